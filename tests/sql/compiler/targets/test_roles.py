"""A table is read or written, and where it lies is its own."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark


def test_a_changelog_is_of_what_is_written(spark: Any) -> None:
    text = "CREATE TABLE t (a INT) WITH (changelog = 'append'); CREATE VIEW v AS SELECT a FROM t;"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert "p.sql:1:14: changelog is of a source or a target; 't' has no USING" in str(raised.value)
    with pytest.raises(
        ProgramError,
        match=r"property 'changelog' is append or .* or maxwell or change-data-feed, not 'all'",
    ):
        compile_program(text.replace("'append'", "'all'"), "p.sql", session=spark)


@pytest.mark.parametrize(
    ("source", "first", "second", "said"),
    [
        (
            "in",
            "out",
            "./out/",
            "p.sql:2:14: table 'a' is written to 'out', and 'b' (p.sql:3:14) is written there",
        ),
        (
            "x/in",
            "out",
            "x/in",
            "p.sql:3:14: table 'b' is written to 'x/in', and 't' (p.sql:1:14) is read from",
        ),
        (
            "x",
            "x/out",
            "y",
            "p.sql:2:14: table 'a' is written to 'x/out', and 't' (p.sql:1:14) is read from there",
        ),
        ("x/in", "x", "x/out", ""),
        ("in", "out", "out2", ""),
    ],
)
def test_what_is_written_has_a_place_of_its_own(
    spark: Any, source: str, first: str, second: str, said: str
) -> None:
    text = (
        f"CREATE TABLE t (i INT) USING json OPTIONS (path '{source}') WITH (append_only = true);\n"
        f"CREATE TABLE a (i INT) USING json OPTIONS (path '{first}');\n"
        f"CREATE TABLE b (i INT) USING parquet OPTIONS (PATH '{second}');\n"
        "INSERT INTO a SELECT * FROM t; INSERT INTO b SELECT * FROM t;"
    )
    if not said:
        compile_program(text, "p.sql", session=spark)
        return
    with pytest.raises(ProgramError) as raised:
        compile_program(text, "p.sql", session=spark)
    assert said in str(raised.value)
