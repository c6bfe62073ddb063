"""The shape of a query: its text, with the types of its literals in their places.

SELECT * FROM v WHERE a > 5 AND s = 'x'   is of the shape   SELECT * FROM v WHERE a > ?int AND s = ?string
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.sql.plans.types import ddl
from dbsp.sql.text.literals.holes import HOLE, with_holes
from dbsp.sql.text.literals.written import Written, written
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import tokens

# of a literal: it decides nothing of a plan; it does by its number of digits; by its value
FREE, SIZED, FIXED = "free", "sized", "fixed"
# after these words values name columns, or rows are drawn: their literals are no parameters
_APART = frozenset({"PIVOT", "UNPIVOT", "RECURSIVE", "TABLESAMPLE", "MATCH_RECOGNIZE", "VALUES"})
# where these words are, expressions that are equal are one more of a group's columns, or one fewer
_TOGETHER = frozenset({"GROUPING", "ROLLUP", "CUBE"})


@dataclass(frozen=True, slots=True)
class Shape:
    """text: with a hole for each literal. literals: in order. numbers: of each, the same for equal ones.
    apart: where some are equal, the shape of a query whose aren't; what that one means this one does, with
    theirs.
    """

    text: str
    literals: tuple[Written, ...]
    numbers: tuple[int, ...]
    words: str
    apart: Shape | None = None

    @property
    def values(self) -> dict[int, Written]:
        """The literal that each number stands for."""
        return dict(zip(self.numbers, self.literals, strict=True))

    def shown(self, text: str, start: int) -> str:
        """A piece of the query's text, which begins at `start`, with holes."""
        return with_holes(text, start, list(zip(self.literals, self.numbers, strict=True)), lambda _: "")

    @property
    def described(self) -> str:
        """As Parameters.java takes them."""
        return "\n".join(
            f"{one.start} {one.stop - 1} {number} {ddl(one.type)}"
            for one, number in zip(self.literals, self.numbers, strict=True)
        )

    def known_by(self, kinds: Sequence[str]) -> str:
        """The shape with as much of the literals as a plan of these kinds depends on."""
        values = self.values
        said = [
            repr(values[number].value) if kind == FIXED else values[number].digits if kind == SIZED else ""
            for number, kind in enumerate(kinds)
        ]
        return f"{self.text}\0{said}"


def shape_of(source: Source, timezone: str) -> Shape | None:
    """The query's; None where it has no literal that can be one. Raises ProgramError."""
    read = tokens(source)
    names = [token.text.strip("`").lower() for token in read if token.kind in ("word", "quoted")]
    literals = written(read, timezone)
    if not literals or not _APART.isdisjoint(token.upper for token in read) or HOLE in source.text:
        return None
    known: dict[tuple[object, object], int] = {}
    numbers = [known.setdefault((repr(one.value), one.type), len(known)) for one in literals]

    def shape(numbers: Sequence[int], apart: Shape | None) -> Shape:
        numbered = list(zip(literals, numbers, strict=True))
        text = with_holes(source.text, 0, numbered, lambda one: f" {ddl(one.type)}")
        return Shape(text, tuple(literals), tuple(numbers), "\n".join(names), apart)

    is_told_apart = len(known) < len(literals) and _TOGETHER.isdisjoint(token.upper for token in read)
    return shape(numbers, shape(range(len(literals)), None) if is_told_apart else None)
