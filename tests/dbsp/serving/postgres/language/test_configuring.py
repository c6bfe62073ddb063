"""SELECT of functions that set and ask for settings."""

from __future__ import annotations

import asyncio

import asyncpg
import pytest

from dbsp.serving.postgres.language.configuring import Call, calls_of
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import statements
from tests.dbsp.serving.postgres.connected import connected


def test_calls() -> None:
    (words,) = statements(
        "SELECT pg_catalog.set_config('a', $1, false), current_setting($2::text, true) AS b, "
        "CURRENT_SETTING(E'it\\'s') AS \"B c\""
    )
    assert calls_of(words, [Value(25, "x"), Value(25, None)]) == [
        Call("set_config", "set_config", ("a", "x", "false")),
        Call("b", "current_setting", (None, "true")),
        Call("b c", "current_setting", ("it's",)),
    ]
    assert calls_of(words) is not None  # before there are values
    assert [Call("a", "set_config", ("a", "b", said)).is_local for said in ("TRUE", "t", "false")] == [
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "said",
    [
        "SELECT 1",
        "SELECT set_config('a', 'b')",
        "SELECT current_setting('a') FROM t",
        "SELECT current_setting('a') || 'b'",
        "SELECT current_setting('a'), 1",
        "VALUES (current_setting('a'))",
        "SELECT current_setting('a'",
        "SELECT upper('a')",
    ],
)
def test_what_is_another_query(said: str) -> None:
    assert calls_of(statements(said)[0]) is None


@pytest.mark.slow  # clients of others
def test_clients_set_and_ask() -> None:
    async def prepared() -> list[object]:
        one = await asyncpg.connect(host="127.0.0.1", port=served.port, user="me", database="dbsp", ssl=False)
        try:
            given = await one.fetchval("SELECT set_config('TimeZone', $1, false)", "Asia/Tokyo")
            return [given, await one.fetchval("SHOW timezone")]
        finally:
            await one.close()

    with connected() as served:
        with served.connect() as one:
            asked = "SELECT set_config('TimeZone', %s, false), current_setting('TimeZone') AS now"
            assert one.execute(asked, ("-7",)).fetchall() == [("<-07>+07", "<-07>+07")]
            assert one.execute("SHOW timezone").fetchall() == [("<-07>+07",)]
        assert asyncio.run(prepared()) == ["Asia/Tokyo", "Asia/Tokyo"]
