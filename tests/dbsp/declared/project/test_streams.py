from __future__ import annotations

import pytest

from dbsp.declared.project.streams import streamed


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("SELECT * FROM STREAM(a.b)", [["a", "b"]]),
        ("SELECT * FROM stream t JOIN STREAM `x.y`.z ON 1 = 1", [["t"], ["x.y", "z"]]),
        ("SELECT stream, 1 FROM t -- STREAM(no)", []),
        ("SELECT 'STREAM(no)' FROM STREAM ( t )", [["t"]]),
    ],
)
def test_what_is_read_by_stream(query, names):
    assert list(streamed(query)) == names
