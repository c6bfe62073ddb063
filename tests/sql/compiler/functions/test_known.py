"""The functions that a program may call, by the names it gave them."""

from __future__ import annotations

from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.compiler.functions.known import Functions
from tests.sql.recorded import check_program_refused, compiled

TWICE = "CREATE FUNCTION TwiceAs(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON AS $$ return 2 * x $$; "
TABLE = "CREATE TABLE t (a BIGINT); "


def test_names_are_as_declared() -> None:
    one = PythonFunction("TwiceAs", "values", False, "1", b"")
    assert Functions({"twiceas": one}).names() == ["TwiceAs"]
    assert Functions().names() == []


def test_a_program_calls_them_in_any_case() -> None:
    program = compiled(f"{TABLE}{TWICE}CREATE VIEW v AS SELECT TWICEAS(a) AS x FROM t")
    assert program.views["v"].plan.spelled == "project TwiceAs(a) AS x"


def test_unknown_ones_are_told_with_those() -> None:
    error = "1:140: unknown function 'twiceat'; the program's own: TwiceAs; did you mean 'TwiceAs'?"
    check_program_refused(f"{TABLE}{TWICE}CREATE VIEW v AS SELECT twiceat(a) AS x FROM t", error)
