"""Standing INSERT INTO: the shape of what is written, and what doesn't fit, with its place and its cure."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program
from tests.sql.compiler.targets.into import compiled

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("columns", "insert", "properties", "shape", "places", "key"),
    [
        ("shop INT, who STRING", "SELECT * FROM visit", "", "append", (0, 1), ()),
        ("shop INT, who STRING, __op STRING", "SELECT * FROM visit", "", "retract", (0, 1, None), ()),
        ("a INT, __weight BIGINT, n BIGINT", "SELECT shop, n FROM sold", "", "retract", (0, None, 1), ()),
        ("a INT PRIMARY KEY, n BIGINT", "SELECT shop, n FROM sold", "", "upsert", (0, 1), (0,)),
        ("n BIGINT, a INT PRIMARY KEY", "(a, n) SELECT shop, n FROM sold", "", "upsert", (1, 0), (0,)),
        ("n BIGINT, a INT PRIMARY KEY", "BY NAME SELECT shop AS A, n FROM sold", "", "upsert", (1, 0), (0,)),
        (
            "n BIGINT, x STRING, a INT PRIMARY KEY, __op STRING",
            "(A, `n`, __op) SELECT shop, n FROM sold",
            "WITH (changelog = 'UPSERT')",
            "upsert",
            (1, None, 0, None),
            (0,),
        ),
        (
            "shop INT, n BIGINT, __op STRING, PRIMARY KEY (n, shop)",
            "SELECT shop, n FROM sold",
            "WITH (changelog = 'upsert')",
            "upsert",
            (0, 1, None),
            (1, 0),
        ),
        (
            "shop INT PRIMARY KEY, n BIGINT, __weight BIGINT",
            "SELECT shop, n FROM sold",
            "WITH (changelog = 'retract')",
            "retract",
            (0, 1, None),
            (),
        ),
        (
            "shop INT, who STRING, __weight BIGINT",
            "SELECT * FROM visit",
            "WITH (append_only = true)",
            "append",
            (0, 1, None),
            (),
        ),
        (
            "shop INT PRIMARY KEY, n BIGINT, m BIGINT",
            "SELECT s.shop, s.n, b.n FROM sold s JOIN (SELECT shop, sum(n) AS n FROM by_product "
            "GROUP BY shop) b ON s.shop = b.shop",
            "",
            "upsert",
            (0, 1, 2),
            (0,),
        ),
        (
            "product BIGINT PRIMARY KEY, n BIGINT",
            "SELECT product, count(*) FROM sale WHERE product IS NOT NULL GROUP BY product",
            "",
            "upsert",
            (0, 1),
            (0,),
        ),
        (
            "product BIGINT PRIMARY KEY, n BIGINT",
            "SELECT p.product, count(*) FROM sale s JOIN by_product p ON s.product = p.product "
            "GROUP BY p.product",
            "",
            "upsert",
            (0, 1),
            (0,),
        ),
        (
            "product BIGINT PRIMARY KEY, n BIGINT",
            "SELECT product, count(*) FROM by_product WHERE product > 3 AND n < 9 GROUP BY product",
            "",
            "upsert",
            (0, 1),
            (0,),
        ),
    ],
)
def test_what_is_written(
    spark: Any,
    columns: str,
    insert: str,
    properties: str,
    shape: str,
    places: tuple[int | None, ...],
    key: tuple[int, ...],
) -> None:
    found = compiled(spark, columns, insert, properties)
    assert (found.shape, found.columns, found.key) == (shape, places, key)


@pytest.mark.parametrize(
    ("query", "promised"),
    [
        ("SELECT a FROM v WHERE a > 0", "declare 's' and 't' WITH (append_only = true), if no row"),
        ("SELECT a FROM t", "declare 't' WITH (append_only = true), if no row"),
        ("SELECT a FROM t JOIN u USING (a)", "declare 't' WITH (append_only = true), if no row"),
        ("SELECT count(*) FROM t", None),
        ("SELECT a FROM k", None),
    ],
)
def test_what_would_make_rows_last_is_said(spark: Any, query: str, promised: str | None) -> None:
    text = (
        "CREATE TABLE s (a INT); CREATE TABLE t (a INT); CREATE TABLE u (a INT) WITH (append_only = true);"
        "CREATE TABLE k (a INT PRIMARY KEY);"
        "CREATE LOCAL VIEW v AS SELECT a FROM s UNION ALL SELECT a FROM t;"
        "CREATE TABLE out (a INT) USING csv OPTIONS (path 'out');"
    )
    with pytest.raises(ProgramError, match=r"to get the changelog, or .*SELECT STREAM") as raised:
        compile_program(f"{text} INSERT INTO out {query}", session=spark)
    said = str(raised.value)
    assert promised in said if promised else "append_only" not in said
    if promised:  # and does
        for name in "st":
            text = text.replace(f"TABLE {name} (a INT)", f"TABLE {name} (a INT) WITH (append_only = true)")
        compile_program(f"{text} INSERT INTO out {query}", session=spark)


@pytest.mark.parametrize(
    ("columns", "insert", "properties", "error"),
    [
        ("a INT, n BIGINT", "SELECT shop, n FROM sold", "", "can retract rows"),
        (
            "a INT, n BIGINT",
            "SELECT shop, n FROM sold",
            "WITH (changelog = 'append')",
            "declare a column __weight BIGINT in 'out' to get the changelog, or PRIMARY KEY (a) to get the",
        ),
        (
            "n BIGINT, a INT",
            "(a, n) SELECT shop, n FROM sold",
            "WITH (append_only = true)",
            "or PRIMARY KEY (a) to get",
        ),
        (
            "a INT, n BIGINT",
            "SELECT shop, n FROM sold",
            "WITH (changelog = 'retract')",
            "6:1: changelog = 'retract' of 'out' has nothing that says what is retracted; declare a column",
        ),
        (
            "a INT, n BIGINT",
            "SELECT shop, n FROM sold",
            "WITH (append_only = true, changelog = 'upsert')",
            "6:1: table 'out' is append_only, its changelog can't be 'upsert'",
        ),
        (
            "a INT PRIMARY KEY, n BIGINT, __weight BIGINT",
            "SELECT shop, n FROM sold",
            "",
            "6:1: an upsert has no weight, but 'out' has a column __weight; declare __op STRING instead, o",
        ),
        (
            "a INT PRIMARY KEY, p BIGINT, n BIGINT",
            "(p, n) SELECT product, n FROM by_product",
            "",
            "6:1: column 'a' of 'out' is NOT NULL and is not listed; list it, or declare it without NOT NULL",
        ),
        (
            "p BIGINT PRIMARY KEY, n BIGINT",
            "SELECT product, count(*) FROM sale GROUP BY product",
            "",
            "6:17: column 'p' of 'out' is NOT NULL, the query may give NULL; add WHERE product IS NOT NULL",
        ),
        (
            "a INT, n BIGINT, __op INT",
            "SELECT shop, n FROM sold",
            "",
            "6:1: column '__op' of 'out' is written as STRING; declare it so",
        ),
        (
            "a INT, n BIGINT, __weight BIGINT, __state STRING",
            "SELECT shop, n FROM sold",
            "",
            "6:1: column '__state' of 'out' needs a view with EMIT (..., RESULT STATE FLAG)",
        ),
        (
            "a STRING, n BIGINT, __op STRING",
            "SELECT shop, n FROM sold",
            "",
            "6:17: column 'a' of 'out' is STRING, the query gives INT; CAST it",
        ),
    ],
)
def test_what_does_not_fit(spark: Any, columns: str, insert: str, properties: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(spark, columns, insert, properties)
    assert error in str(raised.value)


def test_a_function_takes_every_shape(spark):
    text = (
        "CREATE TABLE t (a INT, b INT, PRIMARY KEY (a));\nCREATE VIEW v AS SELECT * FROM t;\n"
        "CREATE TABLE rows (a INT, __weight BIGINT) USING python;\nINSERT INTO rows SELECT a FROM v;\n"
        "CREATE TABLE keys (a INT, b INT, __op STRING, PRIMARY KEY (a)) USING python;\n"
        "INSERT INTO keys SELECT * FROM v;\n"
    )
    made = compile_program(text, "p.sql", session=spark)
    assert [insert.shape for insert in made.inserts] == ["retract", "upsert"]
    with pytest.raises(
        ProgramError, match="table 'rows' is written by a function of its name, which takes no OPT"
    ):
        compile_program(text.replace("python;", "python OPTIONS (f 'x');", 1), "p.sql", session=spark)
    with pytest.raises(ProgramError, match="python is no stream, so it can't be read"):
        compile_program(
            "CREATE TABLE t (a INT) USING python;\nCREATE VIEW v AS SELECT * FROM t;", session=spark
        )
