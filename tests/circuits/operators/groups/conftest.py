"""What is done of large groups alone is done of few rows, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dbsp.circuits.operators.groups import nearby


@pytest.fixture(scope="module", params=[nearby._WORTH, 0])
def worth(request: pytest.FixtureRequest) -> Iterator[None]:
    """As groups are, and as if all were large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearby, "_WORTH", request.param)
        yield
