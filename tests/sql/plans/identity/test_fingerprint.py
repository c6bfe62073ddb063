"""A program is known by its fingerprint, in this and in later releases."""

from __future__ import annotations

from typing import get_args

import pytest

from dbsp.circuits.expressions.nodes import Expression
from dbsp.circuits.identity.canonical import check_form
from dbsp.sql.plans import nodes
from dbsp.sql.plans.identity.fingerprint import FORMS, fingerprint
from dbsp.sql.plans.program import Emission
from tests.circuits.identity.located import locate
from tests.dbsp.build import votes_program


def test_every_node_has_a_word_of_its_own() -> None:
    plans = {getattr(nodes, name) for name in nodes.__all__}
    assert {*plans, *get_args(Expression), *get_args(Emission)} <= {*map(locate, FORMS)}
    words = [form.word for form in FORMS.values()]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_of_a_class_and_says_all_of_its_fields(name: str) -> None:
    check_form(locate(name), FORMS[name])


def test_a_program_keeps_its_fingerprint() -> None:
    """Fails where a word, a place or a value is spelled otherwise: then old state directories are lost."""
    program = votes_program()
    found = fingerprint(program.timezone, program.tables, program.views, program.inserts)
    assert found == "b960dba5a8642b846e73d1e2259d0c8066177bd8e31ba867a0511015dcc2769d"
