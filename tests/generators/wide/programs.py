"""Random programs of all that Spark reads, where DuckDB has no words for it: Spark alone is their oracle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dbsp.testing.choices import Choices, chance
from tests.generators.programs import Column, Program, Table, View
from tests.generators.random_parts import Expr, Relation
from tests.generators.random_programs import Select, draw_table
from tests.generators.wide import (
    clauses,
    frames,
    groupings,
    maps,
    nested,
    nests,
    patterns,
    pipes,
    relations,
    tabular,
)
from tests.generators.wide.functions import AGGREGATES, TEMPLATES

_INEXACT = ("VARIANT", "DOUBLE")
_FAMILIES = (relations, tabular, nested, nests, frames, groupings, maps, pipes, clauses)
SHAPES = tuple(shape for family in _FAMILIES for shape in family.SHAPES)


# compared with one another
_ALIKE = (
    ("SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)"),
    ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ"),
)
_MATCHED = {"STRING": patterns.of_texts, "DATE": patterns.of_times, "TIMESTAMP": patterns.of_times}
# what a row is given when it arrives, and keeps; of no sum, whose rounding would follow from it
GIVEN = (
    Column("u", "STRING", default="uuid()"),
    Column("number", "BIGINT", bound=10**19, summable=False, default="monotonically_increasing_id()"),
    Column("r", "DOUBLE", exact=False, summable=False, default="rand()"),
    Column("at", "TIMESTAMP", default="now()"),
)
# of a bag: a row of a key says all of it
_NUMBERED = Column("numbered", "BIGINT", bound=10**19, summable=False, always="BY DEFAULT AS IDENTITY")
# what isn't an expression of one row
_MORE = ("(SELECT", "sql_")


def draw_wide_program(choices: Choices, views: int = 4, given: bool = False) -> Program:
    """One or two tables, one to `views` views. given: tables have columns that are given to their rows, or
    computed of them.
    """
    tables = tuple(_with_more(choices, draw_table(choices, f"t{n}")) for n in range(choices.integer(1, 2)))
    if given:
        tables = tuple(_with_given(choices, table) for table in tables)
    else:
        tables = tuple(replace(t, timed=t.append_only) for t in tables)
    arrived = [_arrived(table) for table in tables if table.timed]
    known = [Relation(t.name, t.columns) for t in tables if not t.timed] + [r for _, r in arrived]
    drawn = []
    for n in range(choices.integer(1, views)):
        view, relation = Wide(choices, known).view(f"v{n}")
        known.append(relation)
        drawn.append(view)
    drawn = [replace(v, duckdb=None, local=v is not drawn[-1] and chance(choices, 5)) for v in drawn]
    return Program(tables, (*(view for view, _ in arrived), *drawn))


def _arrived(table: Table) -> tuple[View, Relation]:
    """In the table's place, its rows and when they arrived."""
    name = f"{table.name}_arrived"
    listed = ", ".join(column.name for column in table.columns)
    query = f"SELECT {listed}, rowtime AS arrived FROM {table.name}"
    columns = (*table.columns, Column("arrived", "TIMESTAMP", False))
    return View(name, query, None, local=True), Relation(name, columns)


def _with_given(choices: Choices, table: Table) -> Table:
    computed = [
        Column(
            f"made{n}",
            e.type,
            bound=e.bound,
            exact=e.exact,
            summable=e.summable,
            always=f"ALWAYS AS ({e.text})",
        )
        for n, e in enumerate(of_one_row(choices, table, choices.integer(0, 2)))
    ]
    numbered = () if table.key else (_NUMBERED,)
    return replace(table, columns=(*table.columns, *GIVEN, *numbered, *computed))


def of_one_row(choices: Choices, table: Table, most: int) -> list[Expr]:
    """What may be computed of a row, or asked of it: no function that is Python's, and no query."""
    drawn = Wide(choices, [Relation(table.name, table.columns)])
    drawn.python = False
    expressions = [drawn.expression(table.columns) for _ in range(most)]
    return [e for e in expressions if not any(word in e.text for word in _MORE)]


def _with_more(choices: Choices, table: Table) -> Table:
    """Now and then with columns of types that DuckDB has no such values of."""
    more = [Column("v", "VARIANT", exact=False)] if chance(choices, 3) else []
    more += [Column("clock", "TIME")] if chance(choices, 3) else []
    return replace(table, columns=(*table.columns, *more))


class Wide(Select):
    """Draws one query, most of it of what only Spark reads."""

    def view(self, name: str) -> tuple[View, Relation]:
        if chance(self.choices, 5):
            return super().view(name)
        if chance(self.choices, 12) and (pairs := self.pairs()):
            return relations.walk(
                name, self.choices.choice(pairs), self.choices.choice(["JOIN", "LEFT JOIN"])
            )
        plain = [self.project] * 4 + [self.group] * 6
        own = [*plain, *(lambda s=shape: s(self) for shape in SHAPES)]
        query, columns, fanout, _ = self.choices.choice(own)()
        return View(name, query, None), Relation(name, columns, fanout)

    def comparable(self, a: str, b: str) -> bool:
        """Also of two types, of which Spark makes one."""
        return a == b or any(a in family and b in family for family in _ALIKE)

    def expression(self, columns: Sequence[Column]) -> Expr:
        if self.choices.integer(0, 1):
            return super().expression(columns)
        c = self.choices.choice(columns)
        if c.type not in TEMPLATES:
            return super().expression(columns)
        if c.type in _MATCHED and c.exact and chance(self.choices, 3):
            alike = [x for x in self.of(columns, c.type) if x.exact]
            return _MATCHED[c.type](self.choices, alike, self.condition(columns))
        kind, text = self.choices.choice(TEMPLATES[c.type])
        other = self.choices.choice(self.of(columns, c.type))
        text = text.format(c=c.name, o=other.name, p=self.condition(columns))
        exact = c.exact and other.exact and kind not in _INEXACT
        return Expr(text, kind, 10**6, exact, summable=False)

    def aggregate(self, columns: Sequence[Column]) -> Expr:
        able = [c for c in columns if c.type in AGGREGATES and (c.exact or c.type == "VARIANT")]
        if not able or not chance(self.choices, 2):
            return super().aggregate(columns)
        c = self.choices.choice(able)
        other = self.choices.choice(self.of(able, c.type))
        kind, text = self.choices.choice(AGGREGATES[c.type])
        filtered = f" FILTER (WHERE {self.condition(columns)})" if chance(self.choices, 4) else ""
        text = text.format(c=c.name, o=other.name, f=filtered, p=self.condition(columns))
        return Expr(text, kind, 10**6, kind not in _INEXACT, summable=False)
