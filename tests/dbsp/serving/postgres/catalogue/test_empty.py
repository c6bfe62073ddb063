"""Relations that are empty have the columns of a real server's, as those that aren't."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.catalogue.empty import EMPTY
from dbsp.serving.postgres.catalogue.tables import TABLES
from tests.dbsp.serving.postgres.catalogue.test_tables import columns_there, compare

pytestmark = pytest.mark.slow  # a real server


def test_columns_are_those_of_a_real_server() -> None:
    assert not EMPTY.keys() & TABLES.keys()
    compare(EMPTY, columns_there("pg_catalog"))
