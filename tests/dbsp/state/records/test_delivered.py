"""What each sink has: read as it was written, and never ahead of the state."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.records.delivered import (
    NAME,
    Delivery,
    check_delivered,
    first_lacking,
    read_delivered,
    write_delivered,
)

DELIVERED = {
    "out": Delivery(3, "/data/out"),
    "ünd": Delivery(1),
    "new": Delivery(2, began=2),
    "old": Delivery(1, bound=1),
}


def test_it_reads_back_and_is_replaced(tmp_path: Path) -> None:
    assert read_delivered(tmp_path) == {}
    for delivered in (DELIVERED, {"out": Delivery(4)}, {}):
        write_delivered(tmp_path, delivered, durable=False)
        assert read_delivered(tmp_path) == delivered
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_what_none_may_forget_yet(tmp_path: Path) -> None:
    assert first_lacking(tmp_path, ["out"]) == 1
    write_delivered(tmp_path, DELIVERED, durable=False)
    assert first_lacking(tmp_path, ["out", "new"]) == 3
    assert first_lacking(tmp_path, ["out", "other"]) == 1
    assert first_lacking(tmp_path, []) is None


def test_damage_is_told_with_what_deleting_it_means(tmp_path: Path) -> None:
    write_delivered(tmp_path, DELIVERED, durable=False)
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole.replace(b"3", b"4"))
    assert first_lacking(tmp_path, ["out"]) == 1
    with pytest.raises(
        StateError, match=r"delivered.json: damaged: .* any other sink gets these rows twice$"
    ):
        read_delivered(tmp_path)


def test_going_back_takes_nothing_away_from_what_is_known() -> None:
    assert Delivery(3, writer="w").back_at(2) == Delivery(2, writer="w", bound=2)
    assert Delivery(1, bound=1).back_at(2) == Delivery(1, bound=1)


def test_a_sink_that_is_ahead_is_named(tmp_path: Path) -> None:
    check_delivered(tmp_path, DELIVERED, 3)
    message = r"step 3 was delivered to 'out', and the last record is that of step 2; .*--restore-to 2`$"
    with pytest.raises(StateError, match=message):
        check_delivered(tmp_path, DELIVERED, 2)
