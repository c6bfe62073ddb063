"""What writes each format of this project."""

from __future__ import annotations

from dbsp.pipeline.own_targets import OWN
from dbsp.sql.plans.own_forms import OWN_FORMS


def test_every_format_of_this_project_has_a_target() -> None:
    assert set(OWN) == set(OWN_FORMS.values())
