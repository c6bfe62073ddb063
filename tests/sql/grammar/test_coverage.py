"""Each alternative of Spark's grammar has an example, which does what the documents say, and Spark's rows."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.testing import assert_equals_spark
from tests.effort import is_long
from tests.sql.grammar.alternatives import Grammar
from tests.sql.grammar.coverage import (
    BEGIN,
    END,
    LIMITS,
    PAGE,
    by_alternative,
    outcomes,
    outcomes_of_listed,
    page,
    said,
    written,
)
from tests.sql.grammar.outcomes import Outcome, examples, maintained_program

FILES = ("queries.sql", "statements.sql")
CURE = "run python -m tests.sql.grammar.coverage --docs"


def test_what_is_said() -> None:
    found = {"SELECT a | b": Outcome("refused", "x | is\nnot"), "USE s": Outcome("ignored", "why")}
    block = said({"A": "maintained", "A.B": "ignored", "C": "refused"}, found)
    assert "of 3 alternatives" in block
    assert written(f"1\n{BEGIN}2\n{END}3\n", block) == f"1\n{BEGIN}{block}{END}3\n"
    assert "| `SELECT a \\| b` | x \\| is not |\n" in page(found)
    assert page(found).endswith("| `USE s` | why |\n")


@pytest.mark.spark
def test_every_alternative_has_an_example(spark: Any) -> None:
    grammar = Grammar(spark)
    read = {text: grammar.read(text) for file in FILES for text in examples(file)}
    assert [text for text, found in read.items() if not found] == []
    assert sorted(grammar.alternatives().difference(*read.values())) == []
    assert grammar.read("SELECT (") == set()


@pytest.mark.spark
@pytest.mark.slow
def test_the_documents_say_what_becomes_of_the_examples(spark: Any) -> None:
    """The long profile asks of what is maintained, too, and Spark for its rows."""
    listed = PAGE.read_text(encoding="utf-8")
    found = outcomes(spark) if is_long() else outcomes_of_listed(spark, listed)
    text = LIMITS.read_text(encoding="utf-8")
    assert page(found) == listed, CURE
    assert written(text, said(by_alternative(Grammar(spark), found), found)) == text, CURE
    if is_long():
        queries = {query: found[query] for query in examples("queries.sql")}
        assert_equals_spark(maintained_program(queries), steps=2)
