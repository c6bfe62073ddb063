"""Prepared statements, of messages and of SQL: PREPARE name AS ..., EXECUTE name (values).

Source: PostgreSQL 17 documentation, pages PREPARE and EXECUTE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dbsp.serving.postgres.language.parameters import UNKNOWN
from dbsp.serving.postgres.language.spelling import Cursor, Word, parameters_of
from dbsp.serving.postgres.language.wrong import Wrong

# of a connection: prepared statements or portals, and their words
KEPT, _WORDS = 200, 100_000


@dataclass(frozen=True)
class Prepared:
    """words: of the one statement; () where it says nothing. oids: of the parameters. types: those that
    PREPARE names for them.
    """

    words: tuple[Word, ...]
    oids: list[int]
    types: Sequence[Sequence[Word]] = ()


class Statements(dict[str, Prepared]):
    """Those of one connection, by name."""

    def check_room(self, name: str, words: Sequence[Word]) -> None:
        """Raises Wrong where there is none for another one."""
        if name and name in self:
            raise Wrong("42P05", f"the prepared statement '{name}' is there already")
        known = sum(len(one.words) for one in self.values())
        if len(self) >= KEPT or known + len(words) > _WORDS:
            raise Wrong("53400", f"{KEPT} statements are prepared, or {_WORDS:,} words; close some")

    def of(self, name: str) -> Prepared:
        """Raises Wrong."""
        found = self.get(name)
        if found is None:
            raise Wrong("26000", f"no prepared statement '{name}'")
        return found

    def executed(self, words: Sequence[Word]) -> Sequence[Word]:
        """The statement that EXECUTE name (values) is. Raises Wrong."""
        said = Cursor(words[1:])
        name = said.name() or ""
        found, values = self.of(name), _listed(said)
        if not said.is_over:
            raise Wrong("42601", "EXECUTE name [(value, ...)]")
        if len(values) != len(found.oids):
            raise Wrong("42601", f"'{name}' has {len(found.oids)} parameters; EXECUTE gives {len(values)}")
        made = list[Word]()
        for word in found.words:
            if word.kind == "parameter":
                number = int(word.text[1:]) - 1
                types = found.types[number] if number < len(found.types) else ()
                made += _value(values[number], types, word.before)
            else:  # what is wrong is shown at the EXECUTE
                made.append(replace(word, start=words[0].start))
        return made

    def prepare(
        self, words: Sequence[Word], types_of: Callable[[Sequence[Word], list[int]], list[int]]
    ) -> None:
        """PREPARE. types_of: of the parameters of a statement, by what a client names. Raises Wrong."""
        name, types, statement = _preparing(words)
        self.check_room(name, statement)
        oids = types_of(statement, [UNKNOWN] * parameters_of(statement))
        self[name] = Prepared(statement, oids, types)

    def deallocate(self, words: Sequence[Word]) -> None:
        """DEALLOCATE name | ALL. Raises Wrong."""
        name = words[-1].name or ""
        if name == "all":
            self.clear()
        else:
            self.of(name)
            del self[name]


def _preparing(words: Sequence[Word]) -> tuple[str, list[Sequence[Word]], tuple[Word, ...]]:
    """PREPARE name [(type, ...)] AS statement: (name, types, statement). Raises Wrong."""
    said = Cursor(words[1:])
    name, types = said.name(), _listed(said)
    if name is None or not said.takes("AS") or said.is_over:
        raise Wrong("42601", "PREPARE name [(type, ...)] AS statement")
    return name, types, tuple(said.rest)


def _listed(said: Cursor) -> list[Sequence[Word]]:
    """(a, b, ...): the words of each; none where there is no bracket."""
    if not said.takes("("):
        return []
    found, depth, one = list[Sequence[Word]](), 0, list[Word]()
    while not said.is_over:
        word = said.next
        said.takes(word.upper)
        is_symbol = word.kind == "symbol"
        if is_symbol and depth == 0 and word.text in ",)":
            found.append(one)
            one = []
            if word.text == ")":
                return found
            continue
        depth += (word.text in "([") - (word.text in ")]") if is_symbol else 0
        one.append(word)
    raise Wrong("42601", "a bracket has no end")


def _value(value: Sequence[Word], types: Sequence[Word], before: str) -> list[Word]:
    if len(value) == 1 and not types:
        return [replace(value[0], before=before)]
    start = value[0].start if value else 0
    opening, closing = Word("symbol", "(", before, start), Word("symbol", ")", "", start)
    cast = [Word("cast", "::", "", start), *_close(types)] if types else []
    return [opening, *_close(value), closing, *cast]


def _close(words: Sequence[Word]) -> list[Word]:
    """Without a space before the first."""
    return [replace(word, before="") if i == 0 else word for i, word in enumerate(words)]
