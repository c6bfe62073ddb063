from __future__ import annotations

import pytest

from tests.dbsp.declared.build import small


@pytest.fixture
def project(spark, tmp_path):
    with small(spark, tmp_path) as opened:
        yield opened
