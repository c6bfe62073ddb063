"""A program as a whole: what it is made of."""

from __future__ import annotations

from tests.sql.recorded import TABLES, check_program_refused, compiled

OUT = "CREATE TABLE o (x BIGINT, y BIGINT, __weight BIGINT) USING noop; "


def test_statements_in_any_number_become_one_program() -> None:
    program = compiled(
        f"{TABLES}{OUT}CREATE LOCAL VIEW v AS SELECT a, b FROM t WHERE a > 0; "
        "CREATE VIEW w (p) AS SELECT sum(b) FROM v; INSERT INTO o SELECT a, b FROM v"
    )
    assert [*program.tables] == ["t", "u", "e", "o"]
    assert [*program.views] == ["v", "w", "insert into o"]
    assert [field.name for field in program.views["w"].schema] == ["p"]
    # a target is no source, a local view no output
    assert {*program.circuit.sources} == {"t", "u", "e"}
    assert [output.view for output in program.circuit.outputs] == ["w", "insert into o"]
    (insert,) = program.inserts
    assert (insert.target, insert.view, insert.columns) == ("o", "insert into o", (0, 1, None))


def test_how_a_program_is_written_is_no_part_of_it() -> None:
    first = compiled("CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a + 1 AS x FROM t WHERE a > 0")
    second = compiled(
        "CREATE TABLE t (a BIGINT);\n\nCREATE VIEW v AS SELECT q.a + 1 AS x FROM (SELECT a FROM t) q "
        "WHERE q.a > 0"
    )
    other = compiled("CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a + 1 AS y FROM t WHERE a > 0")
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != other.fingerprint


def test_a_program_without_a_view_is_refused() -> None:
    check_program_refused(
        f"{TABLES}\n", "1:1: the program defines no view; add CREATE VIEW name AS SELECT ..."
    )
