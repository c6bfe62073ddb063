"""What the bytes of COPY hold is what a real server finds in them, wherever they are cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dbsp.serving.postgres.copying.fields import fields_of
from dbsp.serving.postgres.copying.statement import Copy, copy_of
from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.wrong import BadCopy
from tests.effort import examples
from tests.servers.postgres import postgres

FORMS = ["", "(FORMAT csv)", "(DELIMITER '|', NULL '')", "(FORMAT csv, DELIMITER ';', NULL 'N', QUOTE '''')"]
# of these, wherever they stand
PIECES = [
    "a",
    "N",
    "\\N",
    "n",
    "\\n",
    '"',
    '""',
    "'",
    "''",
    "\\",
    "\\\\",
    "\t",
    ",",
    ";",
    "|",
    " ",
    "é",
    "\\.",
    ".",
    '"a\nb"',
    "\\\n",
]
ROWS = st.lists(
    st.lists(st.lists(st.sampled_from(PIECES), max_size=4).map("".join), min_size=2, max_size=2), max_size=4
)


@pytest.fixture(scope="module")
def real() -> Iterator[psycopg.Connection[Any]]:
    with postgres() as server, psycopg.connect(server.url, autocommit=True) as one:
        one.execute("CREATE TABLE t (a TEXT, b TEXT, place SERIAL)")
        yield one


def _copy(form: str) -> Copy:
    return copy_of(statements(f"COPY t (a, b) FROM STDIN {form}")[0])


def _found(data: bytes, copy: Copy, cuts: list[int] = []) -> list[tuple[Any, ...]] | None:  # noqa: B006
    """None: it isn't COPY's. cuts: how many bytes come before it is read again."""
    columns: tuple[list[Any], list[Any]] = [], []
    rest, is_over = b"", False
    try:
        for at, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            rest += data[at:end]
            is_last = end == len(data)
            if is_over:
                break
            found, read, is_over = fields_of(rest, copy, ["a", "b"], len(columns[0]), is_last)
            rest = rest[read:]
            for column, more in zip(columns, found, strict=True):
                column.extend(more.to_pylist())
    except BadCopy:
        return None
    return [*zip(*columns, strict=True)]


def _real(one: psycopg.Connection[Any], data: bytes, form: str) -> list[tuple[Any, ...]] | None:
    try:
        with one.cursor() as cursor:
            cursor.execute("TRUNCATE t")
            with cursor.copy(f"COPY t (a, b) FROM STDIN {form}".encode()) as copy:
                copy.write(data)
            return cursor.execute("SELECT a, b FROM t ORDER BY place").fetchall()
    except psycopg.DataError:
        return None


@pytest.mark.slow  # a real server
@given(rows=ROWS, form=st.sampled_from(FORMS), ends=st.sampled_from(["\n", "\r\n"]), whole=st.booleans())
@examples(100)
def test_as_a_real_server(
    real: psycopg.Connection[Any], rows: list[list[str]], form: str, ends: str, whole: bool
) -> None:
    copy = _copy(form)
    lines = [copy.delimiter.decode().join(row) for row in rows]
    data = (ends.join(lines) + ends * whole).encode()
    assume(copy.form == "csv" or b"\\." not in data)  # not alone it is refused, and the end to a real server
    assert _found(data, copy) == _real(real, data, form)


@pytest.mark.slow  # a real server
@pytest.mark.parametrize(
    "data", [b"a\tb\n\\.\nc\n", b"\\.\n", b"a\tb\r\n\\.\r\n", b"", b"\n", b"a\t\\", b"a\t\\N"]
)
def test_ends_as_a_real_server_sees_them(real: psycopg.Connection[Any], data: bytes) -> None:
    assert _found(data, _copy("")) == _real(real, data, "")


@given(rows=ROWS, form=st.sampled_from(FORMS), drawn=st.data())
def test_wherever_it_is_cut(rows: list[list[str]], form: str, drawn: st.DataObject) -> None:
    copy = _copy(form)
    data = "".join(copy.delimiter.decode().join(row) + "\n" for row in rows).encode()
    cuts = sorted(drawn.draw(st.lists(st.integers(0, len(data)), max_size=3)))
    whole = _found(data, copy)
    if whole is not None:
        assert _found(data, copy, cuts) == whole


@pytest.mark.parametrize(
    ("data", "form", "said"),
    [
        (b"a\tb\nc\n", "", r"row 2 has 1 values, needs 2 \(a, b\)"),
        (b'a,"b\n', "(FORMAT csv)", "the last value has no end"),
        (b"a\rb\tc\n", "", "a carriage return stands within a row"),
        (b"\\x41\tb\n", "", "write the character itself"),
        (b"\xff\tb\n", "", "rows 1 to 1 is no UTF-8"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, form: str, said: str) -> None:
    with pytest.raises(BadCopy, match=said):
        fields_of(data, _copy(form), ["a", "b"], 0, True)
