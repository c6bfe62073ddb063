"""Random programs of texts that are compared by a collation, and of counters: Spark is their oracle."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.collated.calls import COUNTED, MADE, OF_PARTS, OF_PATTERNS, OF_TEXTS
from tests.generators.collated.programs import draw_collated_program
from tests.generators.strategies import runs, split
from tests.generators.values import COLLATIONS
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

POOL = pool_of(8)
KNOWN = st.integers(0, POOL - 1).map(lambda seed: draw_collated_program(Seeded(seed)))
# Spark's choice of a group's text follows from where rows lie, and ours from when they came
SHOWN = st.integers(0, POOL - 1).map(lambda seed: draw_collated_program(Seeded(seed), shown=True))


@examples(6)
@given(data=st.data())
def test_incremental_equals_spark(spark: Any, data: st.DataObject) -> None:
    program = data.draw(KNOWN)
    run = data.draw(runs(program, steps=3, most=6))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark), way)


@examples(4)
@given(data=st.data())
def test_other_laws(spark: Any, data: st.DataObject) -> None:
    program = data.draw(SHOWN)
    case, run = Case.of(program, spark), data.draw(runs(program))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"])
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)
    laws.splitting_changes_nothing(case, run, data.draw(split(run)))


CONSTRUCTS = (
    *(f"COLLATE {name}" for name in COLLATIONS),
    *(
        " UNION SELECT",
        " INTERSECT SELECT",
        " EXCEPT SELECT",
        "SELECT DISTINCT",
        "PIVOT (",
        "LATERAL VIEW OUTER",
    ),
    *(
        "ROLLUP (",
        "CUBE (",
        "GROUPING SETS (",
        " HAVING ",
        "GROUP BY struct(",
        "LIMIT",
        "|> AGGREGATE",
        "QUALIFY",
    ),
    *("LEFT SEMI JOIN", "LEFT ANTI JOIN", "FULL JOIN", "RIGHT JOIN", "USING (x)", " <=> ", " NOT IN (SELECT"),
    *(" IN (SELECT", "NOT EXISTS (", "(SELECT max(struct(", "(SELECT count(*)", "PARTITION BY", "ORDER BY"),
    *("rank() OVER", "cume_dist()", "first_value(", "lead(", "lag(", "nth_value(", "min(struct(", "max_by("),
    *(
        "count(DISTINCT ",
        "approx_count_distinct(",
        "collect_list(DISTINCT ",
        "counter_diff(",
        "AS TIMESTAMP_NTZ)",
    ),
)


def test_every_construct_is_drawn() -> None:
    whole = "\n".join(draw_collated_program(Seeded(seed)).text for seed in range(1500))
    calls = [text for _, text in (*OF_TEXTS, *OF_PARTS, *OF_PATTERNS)] + [*MADE, *COUNTED]
    wanted = {part for call in calls for part in call.replace("{", "}").split("}")[::2] if len(part) > 2}
    assert [part for part in (*sorted(wanted), *CONSTRUCTS) if part not in whole] == []


@examples(5)
@given(data=st.data())
def test_any_program_can_be_drawn(data: st.DataObject) -> None:
    """And shrunk: what Hypothesis decides makes a program as a seed does."""
    assert draw_collated_program(Drawn(data.draw)).text
