"""Random tables with rules of their rows: GENERATED columns and CHECKs of what the wide programs call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dbsp.testing.choices import Choices
from tests.generators.programs import Table
from tests.generators.random_parts import Expr, Relation
from tests.generators.random_programs import draw_table
from tests.generators.wide.programs import Wide

# what isn't an expression of one row
_MORE = ("(SELECT", "sql_counted", "sql_below")


@dataclass(frozen=True)
class Ruled:
    """computed: by name, the expression of a column behind the table's."""

    table: Table
    computed: dict[str, Expr]
    checks: tuple[str, ...]

    @property
    def text(self) -> str:
        columns = self.table.ddl.removeprefix(f"CREATE TABLE {self.table.name} (").rpartition(")")[0]
        rules = [f"{name} {e.type} GENERATED ALWAYS AS ({e.text})" for name, e in self.computed.items()]
        rules += [f"CHECK ({check})" for check in self.checks]
        return f"CREATE TABLE {self.table.name} ({', '.join([columns, *rules])});"


class _OfRows(Wide):
    """A rule calls no function that is Python's."""

    python = False


def draw_ruled(choices: Choices, name: str = "t0") -> Ruled:
    """A bag, up to three columns that are computed and up to two conditions."""
    table = draw_table(choices, name)
    table = Table(name, table.columns)
    drawn = _OfRows(choices, [Relation(name, table.columns)])
    computed = {f"g{n}": e for n, e in enumerate(_of_one_row(drawn, table, choices.integer(1, 3)))}
    checks = [_compared(e) for e in _of_one_row(drawn, table, choices.integer(0, 1))]
    checks += [drawn.condition(table.columns) for _ in range(choices.integer(0, 1))]
    return Ruled(table, computed, tuple(checks))


def _of_one_row(drawn: Wide, table: Table, count: int) -> Iterator[Expr]:
    for _ in range(count):
        e = drawn.expression(table.columns)
        if not any(word in e.text for word in _MORE):
            yield e


def _compared(e: Expr) -> str:
    """An expression that is written once and read twice."""
    if e.type in ("INT", "BIGINT"):
        return f"({e.text}) + 0 BETWEEN -1 AND 3"
    return f"nullif(({e.text}) IS NOT NULL, k > 0)"
