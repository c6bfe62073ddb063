"""Types have PostgreSQL's numbers."""

from __future__ import annotations

import psycopg
import pyarrow as pa
import pytest

from dbsp.serving.postgres.language.types import JSON, TEXT, TYPES, modifier_of, oid_of
from tests.servers.postgres import postgres

pytestmark = pytest.mark.slow  # a server


def test_numbers_and_names_are_those_of_a_real_server() -> None:
    query = "SELECT oid::bigint, typname, format_type(oid, NULL), typlen, typcategory FROM pg_type"
    with postgres() as server, psycopg.connect(server.url) as one:
        real = {oid: (name, full, size, category) for oid, name, full, size, category in one.execute(query)}
    assert {oid: type_[:4] for oid, type_ in TYPES.items()} == {oid: real[oid] for oid in TYPES}


def test_types_that_postgres_has_none_for() -> None:
    assert oid_of(pa.list_(pa.int32())) == JSON
    assert oid_of(pa.duration("us")) == TEXT
    assert psycopg.adapters.types["json"].oid == JSON
    assert modifier_of(pa.decimal128(10, 2)) == (10 << 16) + 2 + 4
    assert modifier_of(pa.int32()) == -1
