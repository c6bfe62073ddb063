"""Random programs of what only Spark reads: variants, LATERAL, sketches, pipes, deep sub-queries."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.testing import assert_equals_spark
from dbsp.testing.choices import Seeded
from dbsp.testing.strategies import Drawn
from tests.effort import examples, pool_of
from tests.generators.strategies import runs, split
from tests.generators.temporal import draw_clocks
from tests.generators.wide.functions import AGGREGATES, TEMPLATES
from tests.generators.wide.patterns import OF_COLUMNS, OF_REGEXES, OF_TIMES
from tests.generators.wide.programs import draw_wide_program
from tests.laws import laws
from tests.laws.laws import WAYS, Case
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark

POOL = pool_of(8)
KNOWN = st.integers(0, POOL - 1).map(lambda seed: draw_wide_program(Seeded(seed), views=3))


@examples(6)
@given(data=st.data())
def test_incremental_equals_spark(spark: Any, data: st.DataObject) -> None:
    program = data.draw(KNOWN)
    run = data.draw(runs(program, steps=3, most=6))
    way = data.draw(st.sampled_from(list(WAYS.values())))
    clocks = draw_clocks(Drawn(data.draw), len(run))
    laws.incremental_equals_batch(Case.of(program, spark), run, Spark(spark), way, clocks)


@examples(4)
@given(data=st.data())
def test_other_laws(spark: Any, data: st.DataObject) -> None:
    program = data.draw(KNOWN)
    case, run = Case.of(program, spark), data.draw(runs(program))
    clocks = draw_clocks(Drawn(data.draw), len(run))
    laws.the_way_changes_no_byte(case, run, WAYS["everything at once"], clocks)
    laws.retracting_all_leaves_nothing(case, run)
    laws.empty_gives_empty(case, run)
    laws.splitting_changes_nothing(case, run, data.draw(split(run)))


@examples(3)
@given(seed=st.integers(0, POOL - 1))
def test_with_what_rows_are_given_and_a_clock(seed: int) -> None:
    """DEFAULT uuid() and its kin are what the tables hold; a view with a clock of its own sees it tick."""
    program = draw_wide_program(Seeded(seed), views=2, given=True)
    ticking = "WITH (clock = 'every 7 minutes') AS SELECT k, number, unix_seconds(now()) - k AS age FROM t0"
    assert_equals_spark(f"{program.text}CREATE VIEW ticking {ticking};", steps=4)


# of each family of relations, what tells its forms
CONSTRUCTS = (
    *("PIVOT (", "(x, y) IN", "UNPIVOT", "LATERAL VIEW", "LATERAL VIEW OUTER", "LATERAL (", "range(0, 3)"),
    *("QUALIFY", "r LEFT JOIN", "stack(", "inline(", "json_tuple(", "variant_explode_outer(", "sql_below("),
    *(
        "sql_twice(",
        "sql_counted()",
        "sql_counted(least =>",
        "GROUP BY key_",
        "GROUP BY array_sort(map_entries",
    ),
    *(
        "JSON_TABLE(",
        "FOR ORDINALITY",
        "EXISTS PATH",
        "LATERAL UNNEST(",
        "WITH ORDINALITY",
        "json_object_keys(",
    ),
    *(
        "from_json(",
        "explode(map(",
        "posexplode_outer(",
        "inline_outer(",
        "SELECT DISTINCT array_sort(map_entries",
    ),
    *("ROLLUP", "CUBE", "GROUPING SETS", "WITH ROLLUP", "ROLLUP (k), CUBE", "grouping_id()", "GROUP BY ALL"),
    *(
        " IGNORE NULLS",
        "RESPECT NULLS",
        "DAY TO SECOND PRECEDING",
        "MONTH FOLLOWING",
        "DAY TO SECOND FOLLOWING",
        "WINDOW w AS",
        "nth_value(",
    ),
    *("percent_rank()", "cume_dist()", "1.50 PRECEDING", "0.5D FOLLOWING", "any_value(", "mode("),
    *("|> WHERE", "|> EXTEND", "|> SET", "|> DROP", "|> AGGREGATE", "|> AS q", "|> ORDER BY", "|> OFFSET"),
    *(
        "|> LIMIT",
        "|> FULL JOIN",
        "|> LEFT ANTI JOIN",
        "|> EXCEPT ALL",
        "|> LEFT JOIN LATERAL explode(",
        "WITH q AS",
        "r AS (FROM q",
    ),
    *("SORT BY", "DISTRIBUTE BY", "CLUSTER BY", "/*+ REPARTITION(2) */", "IDENTIFIER(", "USING (key_)"),
    *("NATURAL FULL JOIN", "(VALUES ", "CROSS JOIN", "LEFT SEMI JOIN", "SELECT * EXCEPT (", "AS first_, "),
    *(
        "EXISTS (SELECT 1 FROM t0 s1 WHERE",
        "s3 WHERE",
        "NOT IN (SELECT s",
        "HAVING NOT EXISTS",
        ") MINUS (SELECT",
    ),
    *(") INTERSECT ALL (", ") EXCEPT ALL (", "(?<=", "(?!", "(?>", ")?+", "r'"),
    *("rowtime AS arrived", "window(arrived", "arrived >"),
)


def test_every_construct_is_drawn() -> None:
    """Each call of the tables and each form of a relation, in some of the first few thousand programs."""
    texts = [view.query for seed in range(3300) for view in draw_wide_program(Seeded(seed)).views]
    templates = [text for each in (TEMPLATES, AGGREGATES) for known in each.values() for _, text in known]
    templates += [text for _, text in (*OF_REGEXES, *OF_COLUMNS, *OF_TIMES)]
    calls = {text.partition("{")[0].partition("(")[0] for text in templates if not text.startswith("{")}
    whole = "\n".join(texts)
    assert [wanted for wanted in (*calls, *CONSTRUCTS) if wanted not in whole] == []


@examples(5)
@given(data=st.data())
def test_any_program_can_be_drawn(data: st.DataObject) -> None:
    """And shrunk: what Hypothesis decides makes a program as a seed does."""
    assert draw_wide_program(Drawn(data.draw)).text
