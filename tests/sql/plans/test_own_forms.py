"""A format that this project writes itself is known by its name, in any case."""

from __future__ import annotations

import pytest

from dbsp.sql.plans.own_forms import OWN_FORMS, POSTGRES, OwnForm, own_form
from dbsp.sql.plans.program import BUILT_IN, PYTHON


def test_it_is_found_by_name() -> None:
    assert own_form("Postgres") is POSTGRES
    assert own_form("parquet") is None
    assert own_form(None) is None


@pytest.mark.parametrize("form", OWN_FORMS.values(), ids=OWN_FORMS)
def test_it_is_nobody_elses(form: OwnForm) -> None:
    assert form.name == form.name.lower()
    assert form.name not in BUILT_IN | {PYTHON}
    assert form.promise.startswith(("exactly once", "at least once"))
    assert not form.options or set(form.required) <= set(form.options)
