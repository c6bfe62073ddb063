"""A derivation in text, in JSON and as tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dbsp.circuits.traces.zset import ZSet
from dbsp.views.derivation import Derivation, Why, most


def rows(values: list[int], weights: list[int] | None = None) -> ZSet:
    batch = pa.record_batch([pa.array(values, pa.int64())], names=["n"])
    return ZSet(batch, np.array(weights or [1] * len(values), np.int64))


TABLE = Derivation("", "t", rows([*range(7)]), is_table=True)
AGAIN = Derivation("", "t", rows([6, 7], [2, 1]), is_table=True)
UNION = Derivation("union all", "", rows([1, 2]), (TABLE, AGAIN))
WHY = Why("v where n = 1", 3, 2, Derivation("", "v", rows([1]), (UNION,), note="some are gone"))


def test_in_text_relations_show_their_first_rows() -> None:
    assert str(WHY).splitlines() == [
        "v where n = 1, as of step 3; last changed by step 2",
        "v   [1 row]",
        '| {"n": 1}',
        "| some are gone",
        "  union all   [2 rows]",
        "    t   [7 rows]",
        *(f'    | {{"n": {i}}}' for i in range(5)),
        "    | ... and 2 more",
        "    t   [3 rows]",
        '    | {"n": 6}',
        '    | {"n": 6}',
        '    | {"n": 7}',
    ]


def test_where_it_is_lost_is_said_with_what_comes_near() -> None:
    lost = Derivation("filter n > 1", "", rows([]), is_lost=True, near=rows([1]))
    lines = list(lost.lines())
    assert lines == ["filter n > 1   [0 rows]   <- lost here", "| these come near:", '| {"n": 1}']
    assert Why("v", 1, None, lost).lost == [lost]


def test_a_table_s_rows_are_there_as_often_as_one_operator_needs_them() -> None:
    assert sorted(WHY.tables["t"]["n"].to_pylist()) == [0, 1, 2, 3, 4, 5, 6, 6, 7]
    assert WHY.rows["n"].to_pylist() == [1]
    assert WHY.notes == ["some are gone"]


def test_most_is_per_row_the_part_that_has_it_most_often() -> None:
    assert most([rows([1, 2], [3, 1]), rows([1, 3], [2, 2])]) == rows([1, 2, 3], [3, 1, 2])


def test_in_json_so_many_rows() -> None:
    said = WHY.to_json(limit=2)
    assert (said["asked"], said["step"], said["changed_by"], said["relation"]) == ("v where n = 1", 3, 2, "v")
    (union,) = said["inputs"]
    assert union["operator"] == "union all"
    assert union["inputs"][0] == {"relation": "t", "count": 7, "rows": [{"n": 0}, {"n": 1}]}
    (union,) = WHY.to_json(limit=2, offset=6)["inputs"]
    assert [one["rows"] for one in union["inputs"]] == [[{"n": 6}], []]
    lost = Derivation("filter n > 1", "", rows([]), is_lost=True, near=rows([1, 2]))
    assert lost.to_json(1)["near"] == [{"n": 1}]


def test_in_text_pages() -> None:
    came = {"t": rows([1, 2, 3, 4], [1, -1, 1, -1])}
    why = Why("v where n = 1", 3, 2, Derivation("", "t", rows([*range(7)]), is_table=True), came)
    assert why.text(2, 2).splitlines()[1:] == [
        "t   [7 rows]",
        "| ... after 2",
        '| {"n": 2}',
        '| {"n": 3}',
        "| ... and 3 more",
        "step 2 changed t",
        '| +1 {"n": 3}',
        '| -1 {"n": 4}',
    ]
    assert why.text(9, 9).splitlines()[2] == "| ... after 7"


def test_in_a_notebook_nothing_is_markup() -> None:
    batch = pa.record_batch([pa.array(["<script>"])], names=["t"])
    said = Why("v", 1, None, Derivation("", "v", ZSet(batch, np.ones(1, np.int64))))._repr_html_()
    assert "<script>" not in said and "&lt;script&gt;" in said
