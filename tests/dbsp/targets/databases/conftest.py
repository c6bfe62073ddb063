from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.dbsp.targets.databases.places import NAMES, Place, place


@pytest.fixture(scope="module", params=NAMES)
def there(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with place(request.param, tmp_path_factory.mktemp(request.param)) as made:
        yield made
