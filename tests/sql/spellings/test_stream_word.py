"""STREAM is a word of the language right after SELECT, before a select list; elsewhere it is a name."""

from __future__ import annotations

import pytest

from dbsp.sql.spellings.stream_word import is_stream_word
from dbsp.sql.text.tokens import tokens
from tests.sql.text.reading import source_of


def found(text: str) -> list[int]:
    """Where the word stands."""
    all_ = tokens(source_of(text))
    return [token.start for i, token in enumerate(all_) if is_stream_word(all_, i)]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT STREAM * FROM t",
        "select stream a FROM t",
        "SELECT STREAM (a) FROM t",
        "SELECT STREAM `from` FROM t",
        "SELECT STREAM 'x', 1 FROM t",
        "SELECT STREAM stream FROM t",
        "SELECT STREAM DISTINCT a FROM t",
    ],
)
def test_the_word(query: str) -> None:
    assert found(query) == [7]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT stream FROM t",
        "SELECT stream, a FROM t",
        "SELECT stream AS s FROM t",
        "SELECT stream.a FROM stream",
        "SELECT stream + 1 FROM t",
        "SELECT `STREAM` * 2 FROM t",
        "SELECT a, stream b FROM t",
        "SELECT stream UNION SELECT 1",
        "SELECT stream",
        "stream * FROM t",
    ],
)
def test_a_name(query: str) -> None:
    assert found(query) == []


def test_of_each_query_within_another() -> None:
    assert found("SELECT STREAM a FROM (SELECT STREAM stream FROM stream)") == [7, 29]
