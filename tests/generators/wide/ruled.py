"""Random tables with rules of their rows: GENERATED columns and CHECKs of what the wide programs call."""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Table
from tests.generators.random_parts import Expr, Relation
from tests.generators.random_programs import draw_table
from tests.generators.wide.programs import Wide, of_one_row


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


def draw_ruled(choices: Choices, name: str = "t0") -> Ruled:
    """A bag, up to three columns that are computed and up to two conditions."""
    table = Table(name, draw_table(choices, name).columns)
    computed = {f"g{n}": e for n, e in enumerate(of_one_row(choices, table, choices.integer(1, 3)))}
    checks = [_compared(e) for e in of_one_row(choices, table, choices.integer(0, 1))]
    if chance(choices, 2):
        checks.append(Wide(choices, [Relation(name, table.columns)]).condition(table.columns))
    return Ruled(table, computed, tuple(checks))


def _compared(e: Expr) -> str:
    """An expression that is written once and read twice."""
    if e.type in ("INT", "BIGINT"):
        return f"({e.text}) + 0 BETWEEN -1 AND 3"
    return f"nullif(({e.text}) IS NOT NULL, k > 0)"
