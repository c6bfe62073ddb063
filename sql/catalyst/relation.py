"""A translated plan with Catalyst's name of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sql.plan import Plan


@dataclass(frozen=True)
class Relation:
    """ids: Catalyst's expression id of each column of the plan."""

    plan: Plan
    ids: tuple[int, ...]

    @property
    def position(self) -> Mapping[int, int]:
        return {id_: index for index, id_ in enumerate(self.ids)}
