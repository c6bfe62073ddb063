"""Which policies there are, and of what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import MATERIALIZED_VIEW, STREAMING_TABLE, TEMPORARY_VIEW
from dbsp.declared.project.policies import AUTO, FULL, INCREMENTAL, STRICT, may_compare, policy_of
from tests.dbsp.declared.made import dataset, flow, project


def view(policy, kind=MATERIALIZED_VIEW, name="`c`.`d`.`m`"):
    return dataset(name, kind, properties=None if policy is None else {"refresh_policy": policy})


def test_policies():
    said = {
        None: STRICT,
        "FULL": FULL,
        "auto": AUTO,
        "Incremental Strict": STRICT,
        "incremental": INCREMENTAL,
    }
    assert {given: policy_of(view(given)) for given in said} == said
    with pytest.raises(
        ProgramError, match=r"a.sql:1:1: c.d.m: no refresh_policy 'autos'; there are: .*auto'\?"
    ):
        policy_of(view("autos"))
    with pytest.raises(ProgramError, match=r"streaming table c\.d\.m has rows of what was read once"):
        policy_of(view("full", STREAMING_TABLE))
    assert policy_of(view("incremental", STREAMING_TABLE)) == INCREMENTAL


@pytest.mark.parametrize(
    ("policies", "may"), [(("auto", "full"), True), (("incremental", None), False), ((None, None), False)]
)
def test_all_readers_of_a_table_decide(policies, may):
    """Also those that read a view of it."""
    reading = replace(flow("v"), tables=frozenset({"t"}))
    through = replace(dataset("v", TEMPORARY_VIEW), flows=(reading,))
    direct = replace(view(policies[0], name="a"), flows=(replace(flow("a"), tables=frozenset({"t"})),))
    below = replace(view(policies[1], name="b"), flows=(flow("b", inputs=["v"]),))
    other = view(None, name="c")
    assert may_compare(project(through, direct, below, other), "t") is may
