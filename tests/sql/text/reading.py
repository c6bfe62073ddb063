"""Reading small texts in tests."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.text.source import Source, read
from dbsp.sql.text.statements.statements import Statement, statements
from dbsp.sql.text.tokens import Cursor, tokens


def source_of(text: str) -> Source:
    return read(text, "p.sql")


def cursor_over(text: str) -> Cursor:
    return Cursor(source_of(text), tokens(source_of(text)))


def parse(text: str) -> list[Statement]:
    return statements(source_of(text))


def only(text: str) -> Statement:
    (found,) = parse(text)
    return found


def check_refused(text: str, error: str) -> None:
    """error: the place and the beginning of the message."""
    with pytest.raises(ProgramError) as raised:
        parse(text)
    assert str(raised.value).startswith(f"p.sql:{error}")
