"""The guide's table of Sparks is what `make sparks` has found."""

from __future__ import annotations

import json

from tests.servers.sparks import FOUND, GUIDE, VERSIONS, rows


def test_the_table_is_what_was_found() -> None:
    found = json.loads(FOUND.read_text())
    assert rows(found) in GUIDE.read_text()
    assert [one["spark"].rpartition(".")[0] for one in found] == [*VERSIONS]
