"""Types and their functions are those of a real server, by number and name."""

from __future__ import annotations

import psycopg
import pytest

from dbsp.serving.postgres.catalogue.types import FUNCTION_COLUMNS, functions_of, types_of
from tests.servers.postgres import postgres


@pytest.mark.slow  # a real server
def test_they_are_those_of_a_real_server() -> None:
    with postgres() as server, psycopg.connect(server.url) as one:
        asked = (
            "SELECT oid, typname, typlen, typcategory, typelem, typinput::oid, typoutput::oid, "
            "typreceive::oid, typsend::oid FROM pg_type"
        )
        real = {row[0]: row for row in one.execute(asked).fetchall()}
        names = dict(one.execute("SELECT oid, proname FROM pg_proc").fetchall())
    for row in types_of(11):
        said = [row[name] for name in ("oid", "typname", "typlen", "typcategory", "typelem")]
        said += [row[name] for name in ("typinput", "typoutput", "typreceive", "typsend")]
        assert tuple(said) == real[row["oid"]]
    for row in functions_of(11):
        assert names[row["oid"]] == row["proname"]


def test_each_type_is_read_and_written_by_something() -> None:
    functions = {row["oid"] for row in functions_of(11)}
    for row in types_of(11):
        assert {row[name] for name in FUNCTION_COLUMNS} - {0} <= functions
        assert row["typreceive"] and row["typsend"]
