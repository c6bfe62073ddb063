"""What an aggregate is: a state that adds up, and what is made of a group's.

    aggregate = finalize ∘ Σ        Σ: over the group's rows, in accumulators, parts, or the rows themselves

A function names the integrals that hold its state by number: of those of accumulators, or of the others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dbsp.circuits.operators.groups.state.accumulators import Accumulator, Values
from dbsp.circuits.operators.groups.state.sides import Sides


class Function(ABC):
    """A frozen value, called for all touched groups at once, on both sides of a step."""

    @abstractmethod
    def finalize(self, sides: Sides, there: np.ndarray, data_type: pa.DataType) -> pa.Array:
        """One result a place, of type `data_type`; anything where the group isn't there (bool[places]).

        Raises EvaluationError, its row being a place, where there is no such result.
        """


@dataclass(frozen=True)
class Accumulated(Function):
    """Of accumulators. state: the number of their integral. values: counts the argument's values; None: each
    row has one. parts: what its values are summed up in.
    """

    state: int = 0
    values: Values | None = None
    parts: tuple[Accumulator, ...] = ()

    @property
    def accumulators(self) -> tuple[Accumulator, ...]:
        """All that it reads, which `add` to what they are from their `zero`."""
        return self.parts if self.values is None else (self.values, *self.parts)

    def counts(self, sides: Sides) -> np.ndarray:
        """int64[places]: how many values there are; without any, most results are NULL."""
        totals = sides.totals(self.state)
        return totals.weights if self.values is None else totals.sums[self.values]

    def sums(self, sides: Sides) -> list[np.ndarray]:
        """int64[places] for each of the parts."""
        totals = sides.totals(self.state)
        return [totals.sums[part] for part in self.parts]
