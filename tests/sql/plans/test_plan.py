"""A plan node that something has no answer for is refused, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import pyarrow as pa
import pytest

from dbsp.sql.compiler.streams import forgets, monotonic
from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.plans.plan import Distinct, Plan
from dbsp.sql.plans.properties.append_only import append_only
from dbsp.sql.plans.properties.growing import obstacle
from dbsp.sql.plans.properties.keys import stream_key
from dbsp.sql.plans.properties.nullability import never_null
from dbsp.sql.plans.properties.relations_read import arriving, scanned
from dbsp.sql.plans.schemas import Field, Schema
from dbsp.sql.plans.shown.explain import cost
from dbsp.sql.plans.shown.spelling import spell_node
from dbsp.sql.plans.verify import inputs, verify
from dbsp.sql.rules.names import names
from dbsp.sql.rules.prune import prune
from dbsp.sql.rules.traverse import bottom_up


@dataclass(frozen=True)
class Mute:
    """A node that is nowhere known; it looks like others, so that nothing else is wrong with it."""

    schema: Schema
    input: Any = None


QUESTIONS: dict[str, Callable[[Any], object]] = {
    "inputs": inputs,
    "verify": verify,
    "append_only": lambda plan: append_only(plan, {}),
    "obstacle": lambda plan: obstacle(Distinct(plan), {"t"}),
    "stream_key": lambda plan: stream_key(plan, {}),
    "never_null": lambda plan: never_null(plan, {}),
    "scanned": scanned,
    "arriving": arriving,
    "cost": cost,
    "spell_node": spell_node,
    "bottom_up": lambda plan: bottom_up(plan, lambda node: node),
    "names": names,
    "prune": prune,
    "monotonic": lambda plan: monotonic(plan, {}),
    "forgets": lambda plan: forgets(plan, set()),
    "lower": lambda plan: Lowering(KINDS).plan(plan),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_open_question(question: str) -> None:
    with pytest.raises(AssertionError, match=r"^Mute: nothing says "):
        QUESTIONS[question](Mute((Field("a", pa.int64()),)))


def test_every_node_is_lowered() -> None:
    assert KINDS.keys() == set(get_args(Plan))
