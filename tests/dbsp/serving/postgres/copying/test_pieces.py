"""A copy that comes in pieces: the rows are those of the whole, and no byte is read many times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from dbsp.serving.postgres.copying import rows as module
from dbsp.serving.postgres.copying.fields import fields_of
from dbsp.serving.postgres.copying.rows import CopiedRows
from dbsp.serving.postgres.copying.statement import Copy, copy_of
from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.wrong import BadCopy
from dbsp.sql.plans.program import Table
from dbsp.sql.plans.schemas import Field

SHORT, LONG = b"a,b\n" * 500, b"x,tall\n" * 20_000


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each read."""
    found: list[int] = []

    def counted(data: bytes, copy: Copy, names: Sequence[str], row: int, is_last: bool) -> Any:
        found.append(len(data))
        return fields_of(data, copy, names, row, is_last)

    monkeypatch.setattr(module, "_AT_ONCE", 1000)
    monkeypatch.setattr(module, "fields_of", counted)
    return found


def _sent(data: bytes, form: str) -> pa.Table:
    schema = (Field("a", pa.string()), Field("b", pa.string()))
    table = Table("t", schema, (), False, False, None, {}, "t.sql:1:1")
    copy = copy_of(statements(f"COPY t FROM STDIN {form}")[0])
    rows = CopiedRows(copy, table, ["a", "b"], "UTC")
    for at in range(0, len(data), 100):
        rows.add(data[at : at + 100])
        if rows.is_much:
            rows.read()
    rows.read(is_last=True)
    return rows.rows


def test_a_long_value_is_read_a_few_times(scanned: list[int]) -> None:
    data = SHORT + b'y,"' + LONG + b'"\n' + SHORT
    short = [("a", "b")] * 500
    found = _sent(data, "(FORMAT csv)")
    assert [*zip(*found.to_pydict().values(), strict=True)] == [*short, ("y", LONG.decode()), *short]
    assert sum(scanned) < 4 * len(data)
    assert len(scanned) < 2 * len(SHORT) // 1000 + 15


@pytest.mark.parametrize(
    ("data", "form", "said"),
    [
        (b'x,5" tall\n' + LONG, "(FORMAT csv)", "the last value has no end"),
        (b"a" * len(LONG), "", "row 1 has 1 values"),
    ],
)
def test_one_without_an_end_is_read_a_few_times(
    scanned: list[int], data: bytes, form: str, said: str
) -> None:
    with pytest.raises(BadCopy, match=said):
        _sent(data, form)
    assert sum(scanned) < 4 * len(data)
    assert len(scanned) < 12


def test_after_a_long_value_short_rows_are_read_as_they_come(scanned: list[int]) -> None:
    assert len(_sent(b'y,"' + LONG + b'"\n' + SHORT * 200, "(FORMAT csv)")) == 1 + 200 * 500
    assert max(scanned) < 4 * len(LONG)
    assert max(scanned[-50:]) <= 1200
