"""What asking a store comes to is counted."""

from __future__ import annotations

from dbsp.circuits.segments.origin import Traffic


def test_traffic_is_a_sum() -> None:
    one = Traffic(gets=2, puts=1, deletes=3, lists=4, bytes_read=10, bytes_written=20, found=5, fetched=6)
    two = Traffic(gets=1, bytes_read=5, found=1)
    assert one + two == Traffic(3, 1, 3, 4, 15, 20, 6, 6)
    assert one + two - two == one
    assert (one.requests, Traffic().requests) == (10, 0)
