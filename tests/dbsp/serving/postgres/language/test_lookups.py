"""A lookup by value is one only where it means what the compiler would say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbsp.serving.postgres.language.lookups import lookup_of
from dbsp.serving.postgres.language.spelling import statements
from tests.dbsp.serving.postgres.connected import Served, connected, shops

pytestmark = pytest.mark.slow  # clients and servers of others


@pytest.mark.parametrize(
    "said",
    [
        "SELECT * FROM v WHERE a = 1",
        'SELECT a, "B" FROM public.v WHERE v.a = $1 AND "B" = \'x\'',
        "SELECT v.a FROM v WHERE a = 1",
    ],
)
def test_is_one(said: str) -> None:
    found = lookup_of(statements(said)[0])
    assert found is not None and found.view == "v" and "a" in found.equal


@pytest.mark.parametrize(
    "said",
    [
        "SELECT * FROM v",
        "SELECT * FROM v WHERE a = 1 OR b = 2",
        "SELECT * FROM v WHERE a = 1 AND a = 2",
        "SELECT * FROM v WHERE a = b",
        "SELECT * FROM v WHERE a = '1'::int",
        "SELECT * FROM v WHERE a = 1 LIMIT 1",
        "SELECT a AS x FROM v WHERE a = 1",
        "SELECT w.a FROM v WHERE a = 1",
        "SELECT count(*) FROM v WHERE a = 1",
        "SELECT * FROM v, w WHERE a = 1",
        "SELECT DISTINCT a FROM v WHERE a = 1",
    ],
)
def test_is_none(said: str) -> None:
    assert lookup_of(statements(said)[0]) is None


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


@given(
    st.sampled_from(["id = {}", "shop = {}", "price = {}", "id = {} AND shop = 's1'"]),
    st.sampled_from(["4", "'4'", "'s1'", "12.5", "12.50", "'12.5'", "12", "99999999999999999999", "NULL"]),
)
@settings(max_examples=40, deadline=None)
def test_equals_what_the_compiler_says(port: Served, where: str, value: str) -> None:
    """With a condition that changes nothing it is compiled. Both give the rows, or both refuse."""

    def rows(query: str) -> object:
        try:
            return sorted(port.asked(query), key=str)
        except Exception as error:
            return type(error)

    said = f"SELECT id, shop, price FROM latest WHERE {where.format(value)}"
    assert rows(said) == rows(f"{said} AND id IS NOT NULL")
