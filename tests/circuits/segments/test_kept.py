"""What was made of chunks is made once, while it is kept."""

from __future__ import annotations

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.segments.kept import KeptOpen


def test_what_was_just_written_needs_no_reading() -> None:
    kept = KeptOpen(capacity=2)
    first, second, third = (Chunk(f"{name}.seg", 0, 8, 1) for name in "abc")
    kept.put([first], 0, "written")
    assert kept.get([first], 0, lambda: "read") == "written"
    assert kept.get([first], 1, lambda: "another cut") == "another cut"
    assert kept.if_there([first], 1) == "another cut"
    assert kept.if_there([second], 0) is None
    kept.forget({"a.seg"})
    assert not kept.segments
    assert kept.get([first], 0, lambda: "read") == "read"
    kept.let_go([first], 1)
    assert kept.get([first], 1, lambda: "read") == "read"
    for chunk in (second, third):
        kept.put([chunk], 0, "written")
    assert kept.get([first], 0, lambda: "read again") == "read again", "no more than that many are kept"
