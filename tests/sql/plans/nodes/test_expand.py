"""Expand and Generate: several rows of one."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from dbsp.sql.plans.nodes import Expand, Generate
from dbsp.sql.plans.schemas import Field
from dbsp.sql.plans.verify import verify
from tests.sql.hand_made import INT, T, assert_as_duckdb, call, column, literal, schema

EXPAND = Expand(
    T, ((column(0), column(1), literal(0)), (literal(None), column(1), literal(1))), schema("a", "b", "g")
)
LIST = call("create_array", column(0), column(2), type_=pa.list_(INT))
GENERATE = Generate(T, (3, 1), LIST, schema("d", "b", "e"))
NUMBERED = replace(
    GENERATE, position=True, schema=(*schema("d", "b"), Field("pos", pa.int32(), False), *schema("e"))
)


def test_rows() -> None:
    assert_as_duckdb(EXPAND, "SELECT a, b, 0 FROM t UNION ALL SELECT NULL, b, 1 FROM t")
    assert_as_duckdb(GENERATE, "SELECT d, b, a FROM t UNION ALL SELECT d, b, c FROM t")
    assert_as_duckdb(NUMBERED, "SELECT d, b, 0, a FROM t UNION ALL SELECT d, b, 1, c FROM t")


def test_linear_operators_pass_on_that_rows_stay() -> None:
    for plan in (EXPAND, GENERATE):
        assert plan.append_only({"t": True})
        assert not plan.append_only({"t": False})
        assert plan.obstacle({"t"}) is None


def test_a_place_and_the_rows_key_tell_elements_apart() -> None:
    assert NUMBERED.stream_key({"t": (1, 3)}) == (1, 0, 2)
    assert NUMBERED.stream_key({"t": (0,)}) is None  # which isn't kept
    assert NUMBERED.stream_key({"t": None}) is None
    assert GENERATE.stream_key({"t": (1, 3)}) is None
    assert EXPAND.stream_key({"t": (1,)}) is None


def test_what_never_decreases_does_so_in_all_projections() -> None:
    """A constant does; NULL says nothing of time."""
    late = {"t": {1: (column(1),), 0: (column(0),)}}
    assert {*EXPAND.monotonic(late)} == {0, 1}
    assert not EXPAND.monotonic({"t": {0: (column(0),)}})


def test_only_what_is_read_is_made() -> None:
    narrower, position = EXPAND.pruned({1})
    verify(narrower)
    assert isinstance(narrower, Expand)
    assert (narrower.projections, position) == (((column(1),), (column(1),)), {1: 0})


def test_what_was_generated_stays_and_its_list_goes() -> None:
    narrower, position = GENERATE.pruned({1})
    verify(narrower)
    assert [field.name for field in narrower.schema] == ["b", "e"]
    assert position == {1: 0, 2: 1}


def test_broken_ones_are_refused() -> None:
    with pytest.raises(AssertionError, match="Generate: kept columns come first"):
        replace(GENERATE, schema=(Field("s", pa.string()), *schema("b", "e"))).verify()
    with pytest.raises(AssertionError, match="Expand: types"):
        replace(EXPAND, schema=schema("a", "b")).verify()


def test_spellings() -> None:
    assert EXPAND.spelled == "expand every row to 2 of (a, b, g)"
    assert replace(GENERATE, outer=True).spelled == "outer generate from create_array(a, c)"
    assert [field.name for field in EXPAND.named().schema] == ["a", "b", "literal"]
