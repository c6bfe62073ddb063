"""What tools are told of how relations are defined."""

from __future__ import annotations

from dbsp.serving.postgres.catalogue.definitions import Definitions, definitions_of
from tests.dbsp.build import CUSTOMER, program, table

TEXT = """
CREATE TABLE t (a INT DEFAULT 1 + 1, B STRING DEFAULT 'x', c INT) USING json
OPTIONS (path 's3://me:secret@bucket/t', password 'secret');
CREATE VIEW V (x) AS SELECT a -- of t
FROM t;
CREATE RECURSIVE VIEW r (a INT) AS
SELECT a FROM t WHERE b = 'ftp://me:secret@host/?token=secret' UNION SELECT a FROM r;
"""


def test_queries_and_defaults() -> None:
    given = program([table("customer", CUSTOMER)], [])
    assert definitions_of(given) == Definitions({}, {})
    object.__setattr__(given, "text", TEXT)
    found = definitions_of(given)
    assert found.queries["v"] == "SELECT a -- of t\nFROM t"
    assert found.queries["r"].startswith("SELECT a FROM t WHERE b = 'ftp://…@host/?…")
    assert (found.default("T", "a"), found.default("t", "b"), found.default("t", "c")) == (
        "1 + 1",
        "'x'",
        None,
    )
    assert "secret" not in str(found)
