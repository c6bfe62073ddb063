"""How a dataset may be refreshed: its property `refresh_policy`.

    incremental_strict   by what has changed; what can't be is an error     (where nothing is said)
    incremental          likewise; but a source whose changes are lost is compared, all of its rows
    auto                 likewise; and a query that can't be maintained is recomputed at every run
    full                 recomputed at every run

The names are those that Databricks has for its materialized views; there `auto` goes by what is cheaper, too.
"""

from __future__ import annotations

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.declared.project.datasets import Dataset, Project, above, shown

POLICY = "refresh_policy"
STRICT, INCREMENTAL, AUTO, FULL = "incremental_strict", "incremental", "auto", "full"
_POLICIES = (STRICT, INCREMENTAL, AUTO, FULL)


def policy_of(dataset: Dataset) -> str:
    """Raises ProgramError for one that there isn't, and for that of what reads a stream."""
    given = (dataset.properties or {}).get(POLICY)
    if given is None:
        return STRICT
    policy = given.strip().lower().replace(" ", "_")
    if policy not in _POLICIES:
        raise ProgramError(
            f"{dataset.place}: {shown(dataset.name)}: no {POLICY} '{given}'; there are: "
            f"{', '.join(_POLICIES)}{did_you_mean(policy, list(_POLICIES))}"
        )
    if dataset.is_streaming and policy in (AUTO, FULL):
        raise ProgramError(
            f"{dataset.place}: {dataset.kind} {shown(dataset.name)} has rows of what was read once, "
            f"which can't be recomputed: no {POLICY} '{given}' of it"
        )
    return policy


def may_compare(project: Project, table: str) -> bool:
    """Whether all that is made of a table may have all of its rows compared, where its changes are lost."""
    readers = [
        dataset
        for dataset in project.refreshed
        if any(table in flow.tables for one in (dataset, *above(project, dataset)) for flow in one.flows)
    ]
    return all(policy_of(dataset) != STRICT for dataset in readers)
