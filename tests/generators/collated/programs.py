"""Random programs of texts that are compared by a collation, and of counters."""

from __future__ import annotations

from dbsp.testing.choices import Choices, chance
from tests.generators.collated import shapes, windows
from tests.generators.collated.calls import TEXT
from tests.generators.collated.shapes import standing
from tests.generators.collated.texts import Collated
from tests.generators.programs import Column, Program, Table, View
from tests.generators.random_parts import Relation
from tests.generators.values import COLLATIONS

_SHAPES = (*shapes.SHAPES, *windows.SHAPES)


def draw_collated_program(choices: Choices, views: int = 3, shown: bool = False) -> Program:
    """One or two tables, one to `views` views that are seen. shown: with the texts of groups."""
    tables = tuple(_table(choices, f"t{n}") for n in range(choices.integer(1, 2)))
    known, kept, drawn = [Relation(t.name, t.columns) for t in tables], list[Relation](), list[View]()
    for n in range(choices.integer(1, views)):
        if chance(choices, 3):
            query, columns, fanout, _ = standing(Collated(choices, known, kept, shown))
            drawn.append(View(f"g{n}", query, None, local=True))
            kept.append(Relation(f"g{n}", columns, fanout))
        view, relation = _view(Collated(choices, known, kept, shown), f"v{n}")
        known.append(relation)
        drawn.append(view)
    return Program(tables, tuple(drawn))


def _table(choices: Choices, name: str) -> Table:
    one, two = choices.choice(COLLATIONS), choices.choice(COLLATIONS)
    columns = [Column("k", "BIGINT", False), Column("s", TEXT + one, exact=False)]
    more = [
        Column("n", "INT"),
        Column("u", TEXT + choices.choice([one, two]), exact=False),
        Column("w", "STRING"),
        Column("ts", "TIMESTAMP"),
        Column("a", f"ARRAY<{TEXT}{one}>", exact=False),
        Column("o", f"STRUCT<s: {TEXT}{two}, i: INT>", exact=False),
    ]
    columns += [c for c in more if choices.integer(0, 2)]
    kind = choices.choice(["bag", "bag", "keyed", "append"])
    return Table(name, tuple(columns), ("k",) if kind == "keyed" else (), kind == "append")


def _view(select: Collated, name: str) -> tuple[View, Relation]:
    if chance(select.choices, 6):
        return select.view(name)
    query, columns, fanout, _ = select.choices.choice(_SHAPES)(select)
    return View(name, query, None), Relation(name, columns, fanout)
