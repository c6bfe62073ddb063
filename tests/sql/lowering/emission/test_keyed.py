"""A view by its key: the key's values, over the key and over what makes them."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Literal
from dbsp.circuits.operators.inputs.thresholds import Proved, Threshold
from dbsp.circuits.operators.streams import Broadcast
from dbsp.circuits.progress.waterline import CLOCK
from dbsp.sql.plans.nodes import Distinct, Filter, Project
from dbsp.sql.plans.schemas import Field, Windows
from tests.sql.hand_made import INT, positive
from tests.sql.lowering.emission.timed import BID, HOUR, MADE, START, TIME, by_hour, keyed_of

K = Column(1, INT)


def test_the_columns_of_the_key_with_their_windows() -> None:
    keyed = keyed_of(by_hour())
    hour, k = keyed.values()
    assert (hour.over_key, hour.made, hour.node) == (Column(0, TIME), Column(0, TIME), keyed.node)
    assert (hour.window, k.window) == (START, None)
    assert (keyed.places, keyed.names) == ((0, 1), "hour, k")


def test_a_key_that_isnt_first_keeps_its_place_in_the_view() -> None:
    plan = Project(
        by_hour(), (Column(2, INT), K, Column(0, TIME)), (Field("n", INT), Field("k", INT), Field("h", TIME))
    )
    keyed = keyed_of(plan)
    assert (keyed.key, keyed.names) == ((2, 1), "h, k")
    hour, _ = keyed.values()
    assert (hour.over_key, hour.made) == (Column(0, TIME), Column(2, TIME))
    assert keyed.over_view(hour.over_key) == hour.made


def test_a_struct_of_the_key_has_its_fields() -> None:
    fields = pa.struct([("start", TIME), ("end", TIME)])
    struct = Call(
        "create_named_struct",
        (Literal("start", pa.string()), MADE, Literal("end", pa.string()), MADE),
        fields,
        False,
    )
    window = Field("window", fields, window=Windows("both", HOUR))
    keyed = keyed_of(Distinct(Filter(Project(BID, (struct, K), (window, Field("k", INT))), positive(1))))
    whole, start, end, k = keyed.values()
    assert (whole.over_key, k.over_key) == (Column(0, fields), Column(1, INT))
    assert [str(part.over_key) for part in (start, end)] == ["get_struct_field(#0)"] * 2
    assert [part.over_key.option("ordinal") for part in (start, end) if isinstance(part.over_key, Call)] == [
        0,
        1,
    ]
    # the fields are made of the table's column, so that its waterline bounds them
    assert {(part.made, part.node) for part in (start, end)} == {(MADE, keyed.lowering.relation("bid"))}
    assert (start.window, end.window) == (Windows("start", HOUR), Windows("end", HOUR))


def test_without_its_key_a_view_is_told_by_whole_rows() -> None:
    assert keyed_of(by_hour(selected=("k", "n"))).names == "k, n"


def test_a_threshold_is_over_the_waterlines_that_it_needs() -> None:
    keyed = keyed_of(by_hour())
    builder = keyed.lowering.builder
    builder.lateness.insert(0, CLOCK)
    late = builder.lateness[1]
    found = keyed.threshold((Column(1, TIME),))
    assert found == Threshold((late,), (Column(0, TIME),))
    assert keyed.threshold((Column(1, TIME),)) == found
    (proof,) = keyed.proofs  # once
    assert isinstance(builder.nodes[proof].operator, Broadcast)
    (proved,) = builder.nodes[proof].inputs
    assert builder.nodes[proved].operator == Proved((late,))


def test_the_clock_needs_no_proof() -> None:
    keyed = keyed_of(by_hour())
    keyed.lowering.builder.lateness.append(CLOCK)
    assert keyed.threshold((Column(1, TIME),)) == Threshold((CLOCK,), (Column(0, TIME),))
    assert keyed.proofs == []
