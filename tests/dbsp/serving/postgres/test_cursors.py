"""DECLARE, FETCH, MOVE and CLOSE, as drivers with cursors of the server call them."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest
import sqlalchemy as sa
from psycopg import errors

from dbsp.serving.postgres.answers import Command
from dbsp.serving.postgres.cursors import Cursors, Declared, declared
from dbsp.serving.postgres.language.spelling import statements
from dbsp.serving.postgres.language.wrong import Wrong
from tests.dbsp.serving.postgres.connected import Served, connected, shops


def _fetched(cursors: Cursors, said: str) -> list[int] | str:
    found = cursors.fetched(statements(said)[0])
    return found.tag if isinstance(found, Command) else found.batch.column(0).to_pylist()


@pytest.fixture
def cursors() -> Cursors:
    made = Cursors()
    made.add(Declared("c", False, ()), pa.RecordBatch.from_pydict({"n": [1, 2, 3, 4, 5]}), "T")
    return made


@pytest.mark.parametrize(
    "course",
    [
        {
            "FETCH c": [1],
            "FETCH NEXT FROM c": [2],
            "FETCH 2 IN c": [3, 4],
            "FETCH ALL c": [5],
            "FETCH 1 c": [],
        },
        {"FETCH FORWARD ALL IN c": [1, 2, 3, 4, 5], "FETCH PRIOR c": [5], "FETCH BACKWARD 2 FROM c": [4, 3]},
        {"MOVE 3 IN c": "MOVE 3", "FETCH 0 c": [3], "FETCH - 5 c": [2, 1], "FETCH BACKWARD c": []},
        {"FETCH LAST c": [5], "FETCH FIRST c": [1], "FETCH ABSOLUTE 3 c": [3], "FETCH ABSOLUTE -1 c": [5]},
        {"FETCH RELATIVE 2 c": [2], "FETCH RELATIVE -1 c": [1], "FETCH RELATIVE -9 c": [], "FETCH 1 c": [1]},
        {"MOVE ALL c": "MOVE 5", "FETCH BACKWARD ALL FROM c": [5, 4, 3, 2, 1], "FETCH ABSOLUTE 9 c": []},
    ],
)
def test_directions(cursors: Cursors, course: dict[str, object]) -> None:
    assert {said: _fetched(cursors, said) for said in course} == course


def test_what_is_declared() -> None:
    found = declared(statements('DECLARE "C" NO SCROLL CURSOR WITH HOLD FOR SELECT 1')[0])
    assert (found.name, found.holds, [word.text for word in found.query]) == ("c", True, ["SELECT", "1"])
    for wrong in ("DECLARE c FOR SELECT 1", "DECLARE c CURSOR FOR", "DECLARE c CURSOR"):
        with pytest.raises(Wrong, match=r"DECLARE name CURSOR \[WITH HOLD\] FOR query"):
            declared(statements(wrong)[0])
    with pytest.raises(Wrong, match=r"FETCH .* FROM cursor"):
        cursors = Cursors()
        cursors.add(found, pa.RecordBatch.from_pydict({"n": [1]}), "I")
        _fetched(cursors, "FETCH SIDEWAYS FROM c")


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


@pytest.mark.spark
def test_a_cursor_of_psycopg(port: Served) -> None:
    with port.connect(autocommit=False) as one:
        for is_binary in (False, True):
            with one.cursor("several words", binary=is_binary, scrollable=True) as cursor:
                cursor.execute("SELECT id, shop FROM latest WHERE id > %s ORDER BY id", (2,))
                assert cursor.description is not None
                assert [column.name for column in cursor.description] == ["id", "shop"]
                assert cursor.fetchmany(2) == [(3, "s0"), (4, "s1")]
                cursor.scroll(1)
                assert cursor.fetchone() == (6, "s0")
                cursor.scroll(0, mode="absolute")
                cursor.itersize = 3
                assert [row[0] for row in cursor] == [3, 4, 5, 6, 7, 8, 9]


@pytest.mark.spark
def test_a_stream_of_sqlalchemy(port: Served) -> None:
    engine = sa.create_engine(f"postgresql+psycopg://me@127.0.0.1:{port.port}/dbsp")
    with engine.connect().execution_options(stream_results=True, max_row_buffer=2) as one:
        found = one.execute(sa.text("SELECT id FROM latest ORDER BY id"))
        assert [row[0] for row in found.yield_per(3)] == list(range(10))
    engine.dispose()


@pytest.mark.spark
def test_cursors_end_with_their_transaction_unless_they_are_held(port: Served) -> None:
    with port.connect() as one:
        with pytest.raises(errors.NoActiveSqlTransaction, match="DECLARE c: BEGIN a transaction before"):
            one.execute("DECLARE c CURSOR FOR SELECT 1")
        one.execute("BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT 2")
        with pytest.raises(errors.DuplicateCursor, match="'c' is there already"), one.transaction():
            one.execute("DECLARE c CURSOR FOR SELECT 1")
        one.execute("ROLLBACK")
        for name in ("c", "h"):
            with pytest.raises(errors.InvalidCursorName, match=f"no cursor '{name}'; cursors: none"):
                one.execute(f"FETCH {name}".encode())
        one.execute("BEGIN; DECLARE c CURSOR FOR SELECT 1; DECLARE h CURSOR WITH HOLD FOR SELECT 2; COMMIT")
        assert one.execute("FETCH 2 FROM h").fetchall() == [(2,)]
        with pytest.raises(errors.InvalidCursorName, match="no cursor 'c'; cursors: h"):
            one.execute("CLOSE c")
        assert one.execute("CLOSE ALL").statusmessage == "CLOSE CURSOR ALL"
        one.execute("DECLARE h CURSOR WITH HOLD FOR SELECT 2")
        one.execute("DISCARD ALL")
        with pytest.raises(errors.InvalidCursorName):
            one.execute("FETCH h")
        with pytest.raises(errors.SyntaxError, match="give a query"):
            one.execute("DECLARE h CURSOR WITH HOLD FOR SHOW ALL")
