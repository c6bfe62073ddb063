"""The text that anyone may read has no secrets, and its lines are those of the program."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dbsp.circuits.circuit import Circuit
from dbsp.serving.page.text import shown_statements, shown_text
from dbsp.sql.plans.program import Program

TEXT = """\
-- what comes in
CREATE TABLE orders (id BIGINT, note STRING)
USING kafka OPTIONS (
  `kafka.bootstrap.servers` 'localhost:9092', subscribe = 'orders',
  kafka.sasl.jaas.config 'Module required password="hunter2";',
  "kafka.ssl.key.password" = 'hunter3'
);
CREATE TABLE totals (n INT) USING postgres OPTIONS (url 'postgresql://me:hunter4@host/db', dbtable 'totals');
CREATE TABLE files (n BIGINT) USING csv OPTIONS (path 's3://me:hunter5@bucket/x?token=hunter6', header true);
CREATE VIEW counted AS SELECT count(*) AS n FROM orders
WHERE note <> 'password (' ; INSERT INTO totals SELECT * FROM counted;
"""


def program(text: str) -> Program:
    return Program(text, "orders.sql", "", "UTC", {}, {}, (), Circuit((), {}, ()))


def test_no_secret_is_shown() -> None:
    shown = shown_text(program(TEXT))
    assert "hunter" not in shown
    assert "kafka.sasl.jaas.config '…'" in shown
    assert "\"kafka.ssl.key.password\" = '…'" in shown
    assert "url '…', dbtable 'totals'" in shown
    assert "path 's3://…@bucket/x?…', header true" in shown


def test_all_else_is_as_it_was_written() -> None:
    shown = shown_text(program(TEXT))
    assert "`kafka.bootstrap.servers` 'localhost:9092', subscribe = 'orders'," in shown
    assert "note <> 'password ('" in shown
    assert shown.count("\n") == TEXT.count("\n")
    plain = "CREATE TABLE t (x INT);\nCREATE VIEW v AS SELECT options(x) FROM t;\n"
    assert shown_text(program(plain)) == plain


def test_a_value_over_several_lines_leaves_them() -> None:
    text = "CREATE TABLE t (x INT) USING f OPTIONS (secret 'a\nb\nc');\nCREATE VIEW v AS SELECT * FROM t;\n"
    shown = shown_text(program(text))
    assert "b" not in shown.partition(";")[0].partition("OPTIONS")[2]
    assert shown.count("\n") == text.count("\n")


@pytest.mark.parametrize("gap", ["", "\n\n"])
def test_where_relations_are_defined(gap: str) -> None:
    found = shown_statements(program(gap + TEXT))
    by = len(gap)
    assert [(one.name, one.lines) for one in found] == [
        ("orders", (2 + by, 7 + by)),
        ("totals", (8 + by, 8 + by)),
        ("files", (9 + by, 9 + by)),
        ("counted", (10 + by, 11 + by)),
        ("", (11 + by, 11 + by)),
    ]


def test_an_empty_program_has_no_statement() -> None:
    assert shown_statements(replace(program(""), text="-- nothing\n")) == []
