"""What is done of large groups alone is done of few rows, too."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dbsp.circuits.columns.order_codes import order_code
from dbsp.circuits.operators.groups import leading, nearby, same_rows
from dbsp.circuits.operators.joins import outermost
from dbsp.circuits.traces import layout


@pytest.fixture(scope="module", params=[nearby._WORTH, 0])
def worth(request: pytest.FixtureRequest) -> Iterator[None]:
    """As groups are, and as if all were large."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (leading, nearby):
            patch.setattr(module, "_WORTH", request.param)
        yield


@pytest.fixture(scope="module", params=["few", "many"])
def ties(request: pytest.FixtureRequest) -> Iterator[None]:
    """As order codes are; and as if each of two were many rows'."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            for module in (outermost, same_rows):
                patch.setattr(module, "_FEW", 0)
            patch.setattr(layout, "order_code", lambda array: order_code(array) & np.uint32(1 << 31))
        yield
