"""Rows come in pieces, as many as are asked for."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from dbsp.serving.postgres import sending
from dbsp.serving.postgres.wire import message, text
from tests.dbsp.serving.postgres.connected import Served, connected, shops
from tests.dbsp.serving.postgres.test_port import greeted, kinds


@pytest.fixture(scope="module")
def port() -> Any:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


def test_an_answer_in_pieces_and_what_follows_an_error(port: Served) -> None:
    """Execute with a limit suspends a portal; after an error all is skipped until Sync."""
    parse = message(b"P", text(""), text("SELECT id FROM latest"), struct.pack("!h", 0))
    bind = message(b"B", text(""), text(""), struct.pack("!hhh", 0, 0, 0))
    some, rest, sync = (message(b"E", text(""), struct.pack("!i", n)) for n in (4, 0, 0))
    sync = message(b"S")
    wrong = message(b"E", text("none"), struct.pack("!i", 0))
    with greeted(port) as one:
        one.sendall(parse + bind + some + rest + sync)
        assert kinds(one) == "12" + "D" * 4 + "s" + "D" * 6 + "CZ"
        one.sendall(parse + wrong + bind + some + sync)
        assert kinds(one) == "1EZ"
        one.sendall(parse + bind + rest + sync)
        assert kinds(one) == "12" + "D" * 10 + "CZ"


@pytest.mark.spark
def test_many_rows_in_each_format_of_copy(port: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "_ROWS", 300)
    monkeypatch.setattr(sending, "_FEW", 200)
    with port.connect() as one:
        for form in ("text", "csv", "binary"):
            asked = f"COPY (SELECT id, id + 1 FROM range(1000)) TO STDOUT (FORMAT {form})"
            with one.cursor().copy(asked.encode()) as copy:
                copy.set_types(["int8", "int8"])
                rows = [*copy.rows()] if form != "csv" else b"".join(map(bytes, copy)).split()
            if form == "csv":
                assert {*rows} == {b"%d,%d" % (i, i + 1) for i in range(1000)} and len(rows) == 1000
            else:
                assert sorted(rows) == [(i, i + 1) for i in range(1000)]
