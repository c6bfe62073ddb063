"""Answers that several plan nodes give alike, each for a reason that its members share.

A member that has another answer gives its own; what a family doesn't answer, each member must.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from dbsp.sql.plans.plan import Plan


@dataclass(frozen=True, slots=True)
class Leaf(Plan):
    """Reads no other plan."""

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return ()

    def over(self, *inputs: Plan) -> Self:
        return self


@dataclass(frozen=True, slots=True)
class OneInput(Plan):
    """Reads one plan."""

    input: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.input,)

    def over(self, *inputs: Plan) -> Self:
        (below,) = inputs
        return replace(self, input=below)


@dataclass(frozen=True, slots=True)
class TwoInputs(Plan):
    """Reads a left plan and a right one."""

    left: Plan
    right: Plan

    @property
    def inputs(self) -> tuple[Plan, ...]:
        return (self.left, self.right)

    def over(self, *inputs: Plan) -> Self:
        left, right = inputs
        return replace(self, left=left, right=right)
