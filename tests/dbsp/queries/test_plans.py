"""Which views a query names, and that one which is asked again isn't compiled again."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.queries import plans
from dbsp.queries.plans import Plans, named_in
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import votes_program

V = (Field("id", pa.int64()),)
NAMES = ["V", "w", "sales.eu", "v as of 3", "o`d"]


@pytest.mark.parametrize(
    ("select", "found"),
    [
        ("SELECT * FROM v JOIN W ON v.id = w.id", ["V", "w"]),
        ("SELECT 'v' -- w\nFROM sales.eu", ["sales.eu"]),
        ("SELECT * FROM `sales.eu`, `V`", ["V", "sales.eu"]),
        ("SELECT * FROM `v as of 3` AS u", ["v as of 3"]),
        ("SELECT * FROM `o``d`", ["o`d"]),
        ("SELECT 1", []),
    ],
)
def test_the_views_that_a_query_names(select: str, found: list[str]) -> None:
    assert named_in(select, NAMES) == found


def test_a_text_that_is_no_sql_is_said() -> None:
    with pytest.raises(ProgramError, match="query:1:8: ' is never closed"):
        named_in("SELECT 'v", NAMES)


def test_the_last_ones_are_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(select: str, *others: Any) -> Any:
        asked.append(select)
        return votes_program()

    monkeypatch.setattr(plans, "found_query", load)
    monkeypatch.setattr(plans, "_KEPT", 2)
    kept = Plans(lambda: pytest.fail("a session"), "UTC")
    for select in ("SELECT 1", "SELECT 2", "SELECT 1", "SELECT 3", "SELECT 1", "SELECT 2"):
        kept.of(select, {"v": V})
    assert asked == ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 2"]
    kept.of("SELECT 2 FROM v", {"v": V})
    kept.of("SELECT 2 FROM v", {"v": (*V, *V)})
    assert asked[4:] == ["SELECT 2 FROM v", "SELECT 2 FROM v"]


def test_a_query_of_another_time_zone_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def load(select: str, read: Any, timezone: str, compile_: Any, shapes: Any) -> Any:
        asked.append(timezone)
        return votes_program()

    monkeypatch.setattr(plans, "found_query", load)
    kept = Plans(lambda: pytest.fail("a session"), "UTC")
    assert kept.in_zone("UTC") is kept
    for zone in ("Asia/Tokyo", "UTC", "Asia/Tokyo", "UTC"):
        kept.in_zone(zone).of("SELECT 1", {"v": V})
    assert asked == ["Asia/Tokyo", "UTC"]
