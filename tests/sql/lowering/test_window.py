"""OVER and top-k, by DuckDB; and the traces that they read."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.operators.groups.sessions import Sessions
from dbsp.circuits.operators.groups.top import Top, TopOfAppends
from dbsp.circuits.operators.groups.windows.calls import Frame
from dbsp.circuits.operators.streams import Integrate
from dbsp.sql.lowering.window import Columns
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.calls import SortOrder, WindowCall
from dbsp.sql.plans.schemas import Field
from tests.sql.hand_made import INT, T, by_duckdb, call, column, random_bags, rows_of, schema, table
from tests.sql.lowering.lowered import circuit_of, inputs_of, nodes_of, operators

RANK = pa.int32()
B_DESC = SortOrder(column(1), descending=True, nulls_last=True)
OVER = "OVER (PARTITION BY a ORDER BY b DESC NULLS LAST"
SUM_AC = call("add", column(0), column(2))


def window(partition: Expression, *calls: WindowCall) -> p.Window:
    fields = tuple(Field(f"r{i}", one.type) for i, one in enumerate(calls))
    return p.Window(T, (partition,), calls, (*T.schema, *fields))


def ranked(function: str) -> WindowCall:
    return WindowCall(function, (), RANK, False, (B_DESC,))


@pytest.mark.parametrize("function", ["rank", "dense_rank"])
def test_ranks(function: str) -> None:
    bags = random_bags(len(function))
    found = rows_of(window(column(0), ranked(function)), bags)
    assert found == by_duckdb(f"SELECT *, {function}() {OVER}) FROM t", bags)


def test_a_computed_partition_and_the_frame_of_peers() -> None:
    bags = random_bags(2)
    running = WindowCall("count", (column(3),), INT, False, (B_DESC,), Frame(False, None, 0))
    found = rows_of(window(SUM_AC, running), bags)
    over = "PARTITION BY a + c ORDER BY b DESC NULLS LAST RANGE UNBOUNDED PRECEDING"
    query = f"SELECT *, count(d) OVER ({over}) FROM t"
    assert found == by_duckdb(query, bags)


@pytest.mark.parametrize(("ranking", "size"), [("rank", 2), ("dense_rank", 1)])
@pytest.mark.parametrize("is_ranked", [False, True])
def test_the_first_rows(ranking: str, size: int, is_ranked: bool) -> None:
    made = (Field("r", RANK, False),) if is_ranked else ()
    top = p.Top(T, (column(0),), (B_DESC,), ranking, size, is_ranked, (*T.schema, *made))
    bags = random_bags(size)
    columns = "a, b, c, d, r" if is_ranked else "a, b, c, d"
    query = f"SELECT {columns} FROM (SELECT *, {ranking}() {OVER}) AS r FROM t) WHERE r <= {size}"
    assert rows_of(top, bags) == by_duckdb(query, bags)


def test_a_top_is_found_at_the_end_of_its_trace() -> None:
    top = p.Top(T, (column(0),), (B_DESC, SortOrder(column(2))), "rank", 2, False, T.schema)
    circuit = circuit_of(top)
    (node,) = nodes_of(circuit, Top)
    assert inputs_of(circuit, node) == [Integrate((0,), order=1, nulls_greatest=False)]
    first = p.Top(T, (column(0),), (SortOrder(column(1), nulls_last=True),), "rank", 2, False, T.schema)
    circuit = circuit_of(first)
    (node,) = nodes_of(circuit, Top)
    assert inputs_of(circuit, node) == [Integrate((0,), order=1, nulls_greatest=True)]


def test_of_what_only_grows_no_more_than_the_top_is_kept() -> None:
    top = p.Top(T, (column(0),), (B_DESC,), "rank", 2, False, T.schema)
    circuit = circuit_of(top, tables=(table(T, append_only=True),))
    assert len(operators(circuit, TopOfAppends)) == 1
    assert not operators(circuit, Top)


def test_sessions_are_of_each_rows_start_and_end() -> None:
    start, end = (WindowCall(f"session_{of}", (column(1), column(2)), INT, False) for of in ("start", "end"))
    plan = p.Window(T, (column(0),), (end, start), (*T.schema, *schema("e", "s")))
    circuit = circuit_of(plan)
    (operator,) = operators(circuit, Sessions)
    assert (operator.start, operator.end, operator.partition) == (1, 2, (0,))
    found = rows_of(plan, {"t": [(0, 1, 3, 0), (0, 2, 5, 0), (0, 7, 9, 0), (1, 4, 6, 0)]})
    assert {row[4:] for row in found} == {(5, 1), (9, 7), (6, 4)}


def test_computed_columns_are_there_once() -> None:
    columns = Columns(T.schema)
    assert (columns.at(column(2)), columns.at(SUM_AC), columns.at(SUM_AC)) == (2, 4, 4)
    (key,) = columns.order((SortOrder(SUM_AC, descending=True),))
    assert (key.column, key.descending, key.nulls_last) == (4, True, False)
    assert [field.name for field in columns.fields] == ["a", "b", "c", "d", "a + c"]
