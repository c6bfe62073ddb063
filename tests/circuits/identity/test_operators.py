"""Every operator is spelled: one without a form could not be known again in a state directory."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import pytest

import dbsp.circuits.operators
from dbsp.circuits.identity import streams
from dbsp.circuits.identity.canonical import check_form, name_of
from dbsp.circuits.identity.operators import FORMS
from dbsp.circuits.operators.linear import Negate
from dbsp.circuits.operators.operator import Operator
from tests.circuits.identity.located import locate


def operators() -> Iterator[type[Operator]]:
    """All that can be made."""
    package = dbsp.circuits.operators
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    todo: list[type[Operator]] = [Operator]
    while todo:
        found = todo.pop()
        todo += found.__subclasses__()
        if not inspect.isabstract(found):
            yield found


def without_form(found: Iterator[type[Operator]]) -> set[str]:
    ours = (one for one in found if one.__module__.startswith("dbsp."))
    return {one.__name__ for one in ours if name_of(one) not in FORMS}


def test_every_operator_has_a_form() -> None:
    """Give it a word and its fields places, in `circuits/identity/operators.py`."""
    assert without_form(operators()) == set()


@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_of_a_class_and_says_all_of_its_fields(name: str) -> None:
    check_form(locate(name), FORMS[name])


@pytest.mark.parametrize("name", streams._RULES)
def test_every_rule_of_streams_is_of_an_operator(name: str) -> None:
    """One that has another name would be known by its inputs alone, and its traces by other digests."""
    found = locate(name)
    assert issubclass(found, Operator)
    taken = inspect.get_annotations(streams._RULES[name])["operator"]
    assert taken in {found.__name__, "Operator"}


def test_one_without_a_form_is_named() -> None:
    class Unspelled(Negate):
        pass

    Unspelled.__module__ = "dbsp.circuits.operators.unspelled"
    assert without_form(iter([Unspelled])) == {"Unspelled"}


def test_every_word_is_one_class_s() -> None:
    words = [form.word for form in FORMS.values()]
    assert len(set(words)) == len(words)
