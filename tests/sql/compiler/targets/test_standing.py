"""Which view a standing statement writes: one of the program, or its own query's."""

from __future__ import annotations

from tests.sql.recorded import TABLES, check_program_refused, compiled

OUT = "CREATE TABLE o (x BIGINT, y BIGINT, __weight BIGINT) USING noop; "


def test_inserting_a_view_is_inserting_all_of_it() -> None:
    program = compiled(f"{TABLES}{OUT}CREATE VIEW v AS SELECT a, b FROM t; INSERT INTO o SELECT * FROM `v`")
    assert [*program.views] == ["v"]
    assert program.inserts[0].view == "v"


def test_a_query_is_a_view_of_its_statement_alone() -> None:
    text = f"{TABLES}{OUT}INSERT INTO o SELECT a, b FROM t; "
    assert [*compiled(text).views] == ["insert into o"]
    check_program_refused(f"{TABLES}\nINSERT INTO nowhere SELECT a FROM t", "2:1: unknown table 'nowhere'")
