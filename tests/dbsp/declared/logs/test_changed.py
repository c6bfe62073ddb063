from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.declared.logs.changed import Changed, Lost, as_known, from_known, is_of_log
from dbsp.declared.logs.pieces import Piece, Pieces

NONE = Pieces("p", pa.schema([]), ())
SOME = Pieces("p", pa.schema([]), (Piece("f", {}, 3),))


@pytest.mark.parametrize(
    ("added", "gone", "whole", "known", "how"),
    [
        (SOME, NONE, True, {}, "appended"),
        (SOME, NONE, True, {"t/1": [1, 2]}, "compared"),
        (SOME, NONE, True, None, "compared"),
        (NONE, NONE, False, {"t/1": [1, 2]}, "unchanged"),
        (SOME, NONE, False, {"t/1": [1, 2]}, "appended"),
        (NONE, SOME, False, {"t/1": [1, 2]}, "changed"),
    ],
)
def test_what_has_arrived(added, gone, whole, known, how):
    changed = Changed({"t/2": [3, 4]}, added, gone, whole)
    arrived = changed.arrived(known, lambda pieces: pieces.size)
    assert (arrived.how, arrived.files) == (how, {"t/2": [3, 4]})
    assert changed.size == added.size + gone.size
    if how != "unchanged":
        assert arrived.rows() == added.size
    assert (arrived.gone is None) == (how != "changed")


def test_what_is_known():
    known = as_known("id/with", 7, [1, 2])
    assert (is_of_log(known), from_known(known)) == (True, ("id/with", "7", [1, 2]))
    for other in (None, {}, {"file:/t/part-1": [1, 2]}):
        assert not is_of_log(other)
        with pytest.raises(Lost, match="its rows so far are of no log"):
            from_known(other)
