"""SUBSCRIBE, as a query and within COPY."""

from __future__ import annotations

import threading

import psycopg
import pytest

from tests.dbsp.serving.postgres.connected import connected

pytestmark = pytest.mark.spark


def test_a_subscriber_sees_each_step() -> None:
    with connected() as served, served.connect() as one:
        served.http.posted("orders", [{"id": 1, "shop": "a", "price": "2"}])
        stream = one.cursor().stream("SUBSCRIBE TO turnover SINCE 0")
        assert next(stream)[:5] == (1, 1, "a", 1, 2)
        later = threading.Timer(
            0.3, lambda: served.http.posted("orders", [{"id": 2, "shop": "a", "price": "3"}])
        )
        later.start()
        assert sorted([next(stream), next(stream)]) == [(2, -1, "a", 1, 2), (2, 1, "a", 2, 5)]
        later.join()
        one.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled, match="cancelled, as was asked"):
            next(stream)
        assert one.execute("SELECT n FROM turnover").fetchall() == [(2,)]


def test_copy_follows_too() -> None:
    with connected() as served, served.connect() as one:
        served.http.posted("orders", [{"id": 1, "shop": "a\tb", "price": "2"}])
        with one.cursor().copy("COPY (SUBSCRIBE TO turnover SINCE 0) TO STDOUT") as rows:
            assert rows.read_row() == ("1", "1", "a\tb", "1", "2.00")
            one.cancel_safe()
            with pytest.raises(psycopg.errors.QueryCanceled):
                rows.read_row()


def test_who_follows_is_told_so_before_there_is_a_row() -> None:
    follow = "COPY (SUBSCRIBE TO turnover) TO STDOUT"
    with connected() as served, served.connect() as one, one.cursor().copy(follow) as rows:
        served.http.posted("orders", [{"id": 1, "shop": "a", "price": "2"}])
        assert rows.read_row() == ("1", "1", "a", "1", "2.00")
        one.cancel_safe()
        with pytest.raises(psycopg.errors.QueryCanceled):
            rows.read_row()
