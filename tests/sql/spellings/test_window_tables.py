"""Windows as functions of a table: the sub-query that each becomes, and arguments that it doesn't take."""

from __future__ import annotations

import pytest

from tests.sql.spellings.respelled import check_refused, respelled

HOUR, MICROS = "INTERVAL 1 HOUR", "'3600000000 microseconds'"


def tumbled(table: str, ts: str = "ts", rest: str = "") -> str:
    window = f"window({ts}, {MICROS}{rest})"
    return f"(SELECT *, {window}.start AS window_start, {window}.end AS window_end FROM {table})"


@pytest.mark.parametrize(
    "call",
    [
        f"TUMBLE(TABLE t, DESCRIPTOR(ts), {HOUR})",
        f"tumble(TABLE (t), descriptor(ts), {HOUR}, INTERVAL 0 MINUTES)",
        f"TUMBLE(source => TABLE(t), time_field => DESCRIPTOR(ts), window_length => {HOUR})",
        f"TUMBLE(SIZE => {HOUR}, TIMECOL => DESCRIPTOR(ts), DATA => t)",
        f"HOP(TABLE t, DESCRIPTOR(ts), {HOUR}, {HOUR})",
    ],
)
def test_spellings_of_one_window(call: str) -> None:
    assert respelled(call).text == tumbled("t")


def test_spark_has_no_table_of_a_function() -> None:
    found = respelled(f"SELECT * FROM TABLE(TUMBLE(TABLE a.t, DESCRIPTOR(ts), {HOUR})) w")
    assert found.text == f"SELECT * FROM ({tumbled('a.t')}) w"
    assert respelled("SELECT * FROM TABLE(range(3))").text == "SELECT * FROM TABLE(range(3))"


def test_a_query_is_a_table_and_is_rewritten_itself() -> None:
    inner = f"(SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(a), {HOUR}))"
    found = respelled(f"TUMBLE(TABLE {inner}, DESCRIPTOR(b), {HOUR}, INTERVAL 5 MINUTES)")
    rest = f", {MICROS}, '300000000 microseconds'"
    assert found.text == tumbled(f"(SELECT * FROM {tumbled('t', 'a')})", "b", rest)


def test_sessions_are_joined_to_the_rows_that_are_in_them() -> None:
    found = respelled(f"SESSION(TABLE t, DESCRIPTOR(ts), DESCRIPTOR(a, `b c`), {HOUR})").text
    assert found == (
        "(SELECT __rows.*, __sessions.window_start, __sessions.window_end FROM t AS __rows JOIN (SELECT "
        "a, `b c`, session_window.start AS window_start, session_window.end AS window_end FROM t GROUP BY "
        "session_window(ts, '0 days 3600000000 microseconds'), a, `b c`) AS __sessions ON "
        "__rows.a <=> __sessions.a AND __rows.`b c` <=> __sessions.`b c` AND "
        "__rows.ts >= __sessions.window_start AND __rows.ts < __sessions.window_end)"
    )
    alone = respelled(f"SESSION(TABLE t, DESCRIPTOR(ts), {HOUR})").text
    assert (
        "GROUP BY session_window(ts, '0 days 3600000000 microseconds')) AS __sessions ON __rows.ts >="
        in alone
    )


def test_what_the_user_wrote_keeps_its_place() -> None:
    text = f"SELECT * FROM TUMBLE(TABLE nowhere, DESCRIPTOR(never), {HOUR})"
    found = respelled(text)
    for word in ("nowhere", "never"):
        assert found.place(found.text.index(word)) == text.index(word)
    assert found.place(found.text.index("window_end")) == text.index("TUMBLE")


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (f"TUMBLE(TABLE t, ts, {HOUR})", "1:17: the column of the time is given as DESCRIPTOR(ts)"),
        (f"TUMBLE(TABLE t, DESCRIPTOR(), {HOUR})", "1:17: the column of the time is given as DESCRIPTOR(ts)"),
        ("TUMBLE(TABLE t, DESCRIPTOR(ts))", "1:1: TUMBLE of a table takes TUMBLE(TABLE t, DESCRIPTOR(ts)"),
        (f"HOP(TABLE t, DESCRIPTOR(ts), {HOUR})", "1:1: HOP of a table takes HOP(TABLE t, DESCRIPTOR(ts)"),
        (f"TUMBLE(source => t, width => {HOUR})", "1:30: TUMBLE has no 'width' here; it takes TUMBLE(TABLE"),
        (
            f"TUMBLE(TABLE t, DESCRIPTOR(ts), {HOUR}, {HOUR}, 1)",
            "1:67: TUMBLE has no 'one argument more' here",
        ),
        (f"TUMBLE(TABLE t, data => u, DESCRIPTOR(ts), {HOUR})", "1:25: TUMBLE has no 'data' here"),
        (f"SESSION(TABLE t, DESCRIPTOR(ts), k, {HOUR})", "1:34: a key is given as DESCRIPTOR(ts)"),
        (f"SESSION(TABLE t, DESCRIPTOR(ts), {HOUR}, offset => {HOUR})", "1:61: SESSION has no 'offset' here"),
    ],
)
def test_refused(call: str, error: str) -> None:
    check_refused(call, error)
