"""WITH (mode = ...): where bad rows can be kept there is a view of them, and elsewhere it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.operators.inputs.bad import BAD_ROWS, BAD_SCHEMA
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

SOURCE = (
    "CREATE TABLE t (id BIGINT NOT NULL) USING json OPTIONS (path 'in'{0}) WITH (append_only = true{1});\n"
)
VIEW = "CREATE VIEW v AS SELECT * FROM t;\n"


def test_the_view_is_there_with_a_source_that_keeps_them(spark: Any) -> None:
    kept = compile_program(SOURCE.format("", ", mode = 'keep', max_bad_rows = 3") + VIEW, session=spark)
    assert [field.name for field in kept.views[BAD_ROWS].schema] == BAD_SCHEMA.names
    assert (kept.tables["t"].keeps_bad_rows, kept.tables["t"].max_bad_rows) == (True, 3)
    failing = compile_program(SOURCE.format("", ", mode = 'fail'") + VIEW, session=spark)
    assert BAD_ROWS not in failing.views
    silent = compile_program(SOURCE.format("", "") + VIEW, session=spark)
    assert (BAD_ROWS in silent.views, silent.tables["t"].keeps_bad_rows) == (True, True)
    assert silent.fingerprint == failing.fingerprint != kept.fingerprint


@pytest.mark.parametrize("form", ["Excel", "csv", "iceberg"])
def test_a_snapshot_keeps_them_though_it_is_read_again(spark: Any, form: str) -> None:
    source = (
        f"CREATE TABLE t (id BIGINT) USING {form} OPTIONS (path 'x') WITH (snapshot = 'every step'{{0}});\n"
    )
    silent, failing = (
        compile_program(source.format(more) + VIEW, session=spark) for more in ("", ", mode = 'fail'")
    )
    assert (BAD_ROWS in silent.views, BAD_ROWS in failing.views) == (True, False)
    assert silent.fingerprint == failing.fingerprint


@pytest.mark.parametrize(
    "source",
    [
        SOURCE.format(", mode 'PERMISSIVE'", ""),
        SOURCE.format(", mode 'FAILFAST'", ""),
        SOURCE.format(", columnNameOfCorruptRecord 'broken'", ""),
        "CREATE TABLE t (id BIGINT, came TIMESTAMP DEFAULT now()) USING csv OPTIONS (path 'in');\n",
        "CREATE TABLE t (id BIGINT);\n",
        "CREATE TABLE t (id BIGINT) WITH (append_only = true);\n"
        "CREATE TABLE o (id BIGINT) USING csv OPTIONS (path 'out');\n"
        "INSERT INTO o SELECT * FROM v WHERE id > 5;\n",
    ],
)
def test_where_it_is_said_what_is_made_of_them_nothing_is_kept(spark: Any, source: str) -> None:
    table, _, insert = source.partition("INSERT")
    program = compile_program(table + VIEW + (insert and "INSERT" + insert), session=spark)
    assert BAD_ROWS not in program.views


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("CREATE TABLE t (id BIGINT) WITH (mode = 'keep');\n", "mode of 't' is of a source, .* has no USING"),
        (
            SOURCE.format("", ", mode = 'fail', max_bad_rows = 3"),
            "mode of 't' is of bad rows that are kept; leave out mode = 'fail'",
        ),
        (SOURCE.format("", ", mode = 'skip'"), "property 'mode' is keep or fail, not 'skip'"),
        (
            SOURCE.format("", ", mode = 'keep', max_bad_rows = 'x'"),
            "'max_bad_rows' is a number of rows, not 'x'",
        ),
        (
            SOURCE.format(", mode 'FAILFAST'", ", mode = 'keep'"),
            "finds bad rows itself; leave the option mode",
        ),
        (
            SOURCE.format("", "") + "CREATE TABLE bad_rows (id BIGINT);\n",
            "is the system's view of what is no row",
        ),
    ],
)
def test_elsewhere_it_is_refused(spark: Any, source: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        compile_program(source + VIEW, session=spark)
