"""What a change of program does, as a whole."""

from __future__ import annotations

from pathlib import Path

from tests.dbsp.evolution.changing import BY_USER, OLD, change, with_


def test_the_same_program_has_nothing_to_do(state: Path) -> None:
    plan = change(state, OLD).plan
    assert plan.is_same and (plan.items, plan.filled, plan.refused) == ((), 0, ())


def test_it_counts_what_is_kept_made_and_dropped(state: Path) -> None:
    found = change(state, with_(by_user=BY_USER, counts=None))
    plan = found.plan
    assert (plan.kept, plan.filled) == (len(found.kept), len(found.missing))
    assert plan.dropped == len(found.record["spines"].keys() - found.kept.keys()) > 0
    assert plan.refused == () and found.unfilled == frozenset()
