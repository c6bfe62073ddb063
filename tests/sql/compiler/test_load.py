"""A program from its text or its file; a known one is not compiled again."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program, load_program, read_program
from tests.sql.recorded import answering

TEXT = "CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT a FROM t WHERE a > 3"
SESSION: Any = SimpleNamespace(conf={"spark.sql.session.timeZone": "UTC"})


def never() -> Any:
    raise AssertionError("a session is asked for")


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_file_is_its_text_under_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.sql"
    # a mark that some editors write, and letters beyond ASCII
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.encode())
    with answering(TEXT):
        of_file = load_program(file, session=SESSION)
        of_text = load_program(TEXT, session=SESSION)
    assert (of_file.name, of_text.name) == (str(file), "program.sql")
    assert of_file.views["v"].plan == of_text.views["v"].plan
    with answering(TEXT):
        assert load_program(str(file), "named.sql", session=SESSION).name == "named.sql"


def test_a_known_program_asks_catalyst_nothing() -> None:
    with answering(TEXT):
        program = load_program(TEXT, "p.sql", session=SESSION)
    assert load_program(TEXT, "p.sql", session=SESSION) == program
    assert read_program(TEXT, "p.sql", never, "UTC") == program


def test_values_are_put_in_before() -> None:
    with answering(TEXT):
        program = compile_program(TEXT.replace("3", "${N}"), define={"N": "3"}, session=SESSION)
    assert program.text == TEXT


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file or directory"), (b"\xff\xfe", "it is no UTF-8 text")],
)
def test_a_file_that_cant_be_read(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "p.sql"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ProgramError) as raised:
        load_program(str(file), session=SESSION)
    assert str(raised.value) == f"{file}: can't read the program: {reason}"


def test_reading_a_state_runs_no_code_of_its_program() -> None:
    text = (
        "CREATE TABLE t (a BIGINT); CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER 'g' "
        "AS $$ raise SystemExit $$; CREATE VIEW v AS SELECT f(a) AS x FROM t"
    )
    # recorded of a text that can run
    with answering(text.replace("raise SystemExit", "def g(x): return x")):
        program = read_program(text, "p.sql", lambda: SESSION, "UTC")
    assert [field.name for field in program.views["v"].schema] == ["x"]
