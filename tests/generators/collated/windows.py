"""Window functions along collations, and of counters."""

from __future__ import annotations

from dbsp.testing.choices import chance
from tests.generators.collated.calls import COUNTED
from tests.generators.collated.texts import Collated, Shape, Text
from tests.generators.random_parts import Expr


def over(select: Collated) -> Shape:
    """Window functions of what the partition and the order of texts decide."""
    relation = select.source()
    a, b = select.some(relation), select.some(relation)
    direction = select.choice_of("", " DESC", " NULLS LAST", " DESC NULLS FIRST")
    order = f"ORDER BY {b.sql}{direction}"
    window = select.choice_of(f"PARTITION BY {a.sql} {order}", order, f"PARTITION BY {b.sql}")
    calls = [
        Expr(f"count(*) OVER ({window})", "BIGINT", 1000),
        Expr(f"count({a.sql}) OVER ({window})", "BIGINT", 1000),
        Expr(f"count_if({select.tested(relation)}) OVER ({window})", "BIGINT", 1000),
        select.stands(Text(f"min(struct({a.sql} AS x)) OVER ({window}).x", a.collation)),
    ]
    if "ORDER" in window:
        near = "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"
        calls += [
            Expr(f"rank() OVER ({window})", "INT", 1000),
            Expr(f"dense_rank() OVER ({window})", "INT", 1000),
            Expr(f"cume_dist() OVER ({window})", "DOUBLE", 1, False, False),
            select.stands(Text(f"lag({b.sql}) OVER ({window})", b.collation)),
            select.stands(Text(f"first_value({b.sql}) OVER ({window})", b.collation)),
            select.stands(Text(f"lead({b.sql}, 1, 'A') IGNORE NULLS OVER ({window})", b.collation)),
            select.stands(Text(f"nth_value({b.sql}, 2) OVER ({window} {near})", b.collation)),
        ]
    # beside what all rows that tie have
    chosen = [select.choices.choice(calls) for _ in range(select.choices.integer(1, 3))]
    made = [select.stands(a), select.stands(b), *chosen]
    few = "ORDER" in window and chance(select.choices, 4)
    qualify = f" QUALIFY rank() OVER ({window}) <= 2" if few else ""
    return select.shape(made, f"{relation.name}{select.filtered(relation)}{qualify}", relation.fanout)


def counters(select: Collated) -> Shape:
    """How far counters went, which begin anew where they fall, or their start is another."""
    able = [
        (r, c) for r in select.relations for c in r.columns if c.type in ("INT", "BIGINT") and c.bound < 10**6
    ]
    relation, c = select.choices.choice(able)
    value = select.choices.choice(COUNTED).format(c=c.name, p=select.condition(relation.columns))
    times = [x.name for x in relation.columns if x.type == "TIMESTAMP" and x.exact]
    start, order = "", [c.name]
    if times and chance(select.choices, 2):
        time = select.choices.choice(times)
        start = f", {select.choice_of(time, f'CAST({time} AS TIMESTAMP_NTZ)')}"
        order = [f"{time} NULLS FIRST", c.name]
    # a condition may tell rows apart that tie else
    order += [value] if "if(" in value else []
    is_parted = bool(select.texts(relation)) and chance(select.choices, 2)
    part = f"PARTITION BY {select.some(relation).sql} " if is_parted else ""
    window = f"({part}ORDER BY {', '.join(order)})"
    call = Expr(f"CAST(counter_diff({value}{start}) OVER {window} AS STRING)", "STRING")
    return select.shape(
        [Expr(c.name, c.type, c.bound), call],
        f"{relation.name}{select.filtered(relation)}",
        relation.fanout,
    )


SHAPES = (over, over, counters)
