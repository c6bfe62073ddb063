"""A plan node answers for itself: one that leaves a question open is refused, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dbsp.sql.lowering.context.lowering import Lowering
from dbsp.sql.lowering.program import KINDS
from dbsp.sql.plans.families import Leaf, OneInput, TwoInputs
from dbsp.sql.plans.identity.fingerprint import FORMS
from dbsp.sql.plans.nodes import Values
from dbsp.sql.plans.plan import Plan
from tests.circuits.identity.located import locate

QUESTIONS = (
    "append_only",
    "asked_for",
    "cost",
    "inputs",
    "monotonic",
    "named",
    "obstacle",
    "over",
    "pruned",
    "spelled",
    "stream_key",
    "verify",
    "with_expressions",
)


def answering(questions: Sequence[str]) -> type[Any]:
    return type("Mute", (Plan,), {question: getattr(Values, question) for question in questions})


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_open_question(question: str) -> None:
    with pytest.raises(TypeError, match=rf"class Mute .*\b{question}\b"):
        answering([other for other in QUESTIONS if other != question])()


def test_no_other_is_asked() -> None:
    answering(QUESTIONS)()


@pytest.mark.parametrize("family", [Leaf, OneInput, TwoInputs])
def test_no_family_answers_everything(family: type[Any]) -> None:
    with pytest.raises(TypeError, match=family.__name__):
        family()


def test_a_node_that_nothing_lowers() -> None:
    with pytest.raises(AssertionError, match=r"^Mute: nothing says how it is lowered"):
        Lowering(KINDS).plan(answering(QUESTIONS)())


def test_every_node_is_lowered_and_has_a_spelling_for_ever() -> None:
    assert set(KINDS) == {class_ for class_ in map(locate, FORMS) if issubclass(class_, Plan)}
