"""The relations of information_schema have the columns of a real server's."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.catalogue.standard import EMPTY_INFORMATION, INFORMATION
from tests.dbsp.serving.postgres.catalogue.test_tables import columns_there, compare

pytestmark = pytest.mark.slow  # a real server


def test_columns_are_those_of_a_real_server() -> None:
    assert not INFORMATION.keys() & EMPTY_INFORMATION.keys()
    compare(INFORMATION | EMPTY_INFORMATION, columns_there("information_schema"))
