"""What is done of large groups alone is done of the laws' few rows, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbsp.circuits.operators.groups import leading, nearby, same_rows
from dbsp.circuits.operators.groups.aggregates.ranked import percentile, ranks
from dbsp.circuits.operators.joins import outermost
from dbsp.circuits.traces.blocks import extremes, sums


@pytest.fixture(autouse=True, scope="module")
def groups_are_large() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (leading, nearby, percentile):
            patch.setattr(module, "_WORTH", 0)
        for module in (ranks, outermost, same_rows):
            patch.setattr(module, "_FEW", 0)
        for module in (extremes, sums):
            patch.setattr(module, "_BLOCK", 2)
        yield
