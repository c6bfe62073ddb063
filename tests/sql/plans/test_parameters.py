"""A parameter is a call that is told from all others."""

from __future__ import annotations

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Literal
from dbsp.sql.plans.parameters import parameter, parameter_of


def test_a_parameter_says_which_it_is() -> None:
    made = parameter(3, True, pa.int32(), "-5")
    assert parameter_of(made) == (3, True)
    assert made != parameter(3, False, pa.int32(), "5")
    assert (made.type, made.nullable) == (pa.int32(), False)


def test_nothing_else_is_one() -> None:
    assert parameter_of(Call("pi", (), pa.float64())) is None
    assert parameter_of(Literal(1, pa.int32())) is None
