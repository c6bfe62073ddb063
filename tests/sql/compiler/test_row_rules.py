"""What a table's rows may be computed of, and checked by; the rest is refused with its place and cure."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

VIEW = "; CREATE VIEW v AS SELECT * FROM t"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            "a INT GENERATED ALWAYS AS (b + c), b BIGINT, c INT",
            r"1:44: .*'a' is BIGINT, which is no INT by itself; CAST",
        ),
        ("a INT GENERATED ALWAYS AS (b / 2), b INT", "'a' is DOUBLE, which is no INT by itself"),
        ("a INT GENERATED ALWAYS AS ('1')", "'a' is STRING, which is no INT"),
        (
            "a INT GENERATED ALWAYS AS (b), b INT GENERATED ALWAYS AS (1)",
            "reads column 'b', which is computed, too",
        ),
        ("a INT GENERATED ALWAYS AS (a)", "reads column 'a', which is computed, too"),
        ("a INT GENERATED ALWAYS AS (z), b INT", "1:44: unknown column 'z' in 't'; columns: a, b"),
        ("a BIGINT GENERATED ALWAYS AS (count(*))", "of the row's own columns, and no query, aggregate"),
        (
            "a INT GENERATED ALWAYS AS ((SELECT max(b) FROM o)), b INT",
            "of the row's own columns, and no query",
        ),
        ("a INT GENERATED ALWAYS AS (row_number() OVER (ORDER BY b)), b INT", "of the row's own columns"),
        ("a INT GENERATED ALWAYS AS (explode(array(1, 2)))", "1:44: The generator is not supported"),
        ("a DOUBLE GENERATED ALWAYS AS (rand())", r"rand\(\)"),
        ("a DATE GENERATED ALWAYS AS (current_date())", "window or clock"),
        ("a INT GENERATED ALWAYS AS (b + 1) PRIMARY KEY, b INT", "every row says: it can't be computed"),
        ("a INT CHECK (a)", r"CHECK \(a\) is INT, which is no BOOLEAN by itself; CAST it"),
        ("a INT, CHECK (x > 1)", "1:31: unknown column 'x' in 't'; columns: a"),
        (
            "a INT, CHECK (a IN (SELECT b FROM o))",
            r"CHECK \(a IN \(SELECT b FROM o\)\) is an expression of the row",
        ),
        ("b MAP<INT, INT> CHECK (b = b)", '1:40: .*"MAP<INT, INT>"'),
    ],
)
def test_an_expression_is_of_one_row(spark: Any, columns: str, said: str) -> None:
    text = f"CREATE TABLE t ({columns}){VIEW}"
    if " o)" in text:
        text = f"CREATE TABLE o (b INT); {text}"
    with pytest.raises(ProgramError, match=said):
        compile_program(text, session=spark)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "CREATE TABLE t (a TIMESTAMP DEFAULT now() CHECK (a > TIMESTAMP'2020-01-01')) USING json "
            "OPTIONS (path '/x')",
            r"CHECK .* of 't' reads column 'a', whose DEFAULT is the step's, .*mode = 'fail'",
        ),
        (
            "CREATE TABLE t (a INT); CREATE TABLE s (a INT CHECK (a > 0)) USING json OPTIONS (path '/x'); "
            "INSERT INTO s SELECT * FROM t",
            "'s' is written, and takes what its view has: it can't have a CHECK",
        ),
        (
            "CREATE TABLE t (a INT); CREATE TABLE s (a INT, b INT GENERATED ALWAYS AS (a)) USING json "
            "OPTIONS (path '/x'); INSERT INTO s SELECT a, a FROM t",
            "it can't have computed columns; compute it",
        ),
    ],
)
def test_where_nobody_could_judge(spark: Any, text: str, said: str) -> None:
    with pytest.raises(ProgramError, match=said):
        compile_program(text + VIEW, session=spark)


def test_a_function_of_python_is_refused_and_one_of_sql_is_what_it_says(spark: Any) -> None:
    text = (
        "CREATE FUNCTION f(x INT) RETURNS INT {}; CREATE TABLE t (a INT, b INT GENERATED ALWAYS AS (f(a)))"
        + VIEW
    )
    program = compile_program(text.format("RETURN x + 1"), session=spark)
    assert str(program.tables["t"].formulas[0].value)
    with pytest.raises(ProgramError, match="calls a function that is Python's"):
        compile_program(text.format("LANGUAGE PYTHON AS $$ return x + 1 $$"), session=spark)


def test_they_are_part_of_what_a_program_is(spark: Any) -> None:
    def print_of(columns: str) -> str:
        return compile_program(f"CREATE TABLE t ({columns}){VIEW}", session=spark).fingerprint

    plain = print_of("a INT, b INT")
    assert print_of("a INT, b INT GENERATED ALWAYS AS (a + 1)") not in (
        plain,
        print_of("a INT, b INT GENERATED ALWAYS AS (a + 2)"),
    )
    assert print_of("a INT, b INT, CHECK (a > 0)") != plain
    assert print_of("a INT CHECK (a > 0), b INT") == print_of("a INT, b INT, CONSTRAINT c CHECK (a > 0)")
    assert print_of("a INT CHECK (a > 0) NOT ENFORCED, b INT") == plain


def test_a_table_of_any_name(spark: Any) -> None:
    text = "CREATE TABLE `a``b` (`c``d` INT CHECK (`c``d` > 0)); CREATE VIEW v AS SELECT * FROM `a``b`;"
    assert len(compile_program(text, session=spark).tables["a`b"].checks) == 1
