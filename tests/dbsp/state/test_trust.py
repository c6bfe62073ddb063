"""A state directory is data: whatever stands in it, reading it runs no code of it."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from dbsp.circuits.errors import ProgramError
from dbsp.commands.cli import main
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

VIEWS = """
CREATE TABLE t (k INT, x BIGINT);
CREATE VIEW v AS SELECT k, sum(x) AS s FROM t GROUP BY k;
"""
FUNCTIONS = """
CREATE TABLE t (k INT, x BIGINT);
CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER 'f' AS $$
{top}
def f(x):
    return 2 * x
$$;
CREATE FUNCTION thrice(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER 'beside.g';
CREATE VIEW v AS SELECT k, twice(x) AS s, thrice(x) AS u FROM t;
"""
# What a program's text, as the directory has it, would run when it is compiled as a program is. {go} is
# Python that leaves a trace, {trace} the file that then is there.
_FUNCTION = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON"
BOMBS = {
    "the top level of a text": _FUNCTION + " HANDLER 'f' AS $$\n{go}\ndef f(x):\n    return x\n$$;" + VIEWS,
    "a default argument": _FUNCTION + " HANDLER 'f' AS $$\ndef f(x, y={go}): return x\n$$;" + VIEWS,
    "a body": _FUNCTION + " AS $$\n{go}\nreturn x\n$$; CREATE TABLE t (k INT, x BIGINT); "
    "CREATE VIEW v AS SELECT f(x) AS k, x AS s FROM t;",
    "constant rows": _FUNCTION
    + " AS $$\n{go}\nreturn x\n$$; CREATE VIEW v AS SELECT f(c) AS k, c AS s FROM VALUES (1L) AS u(c);",
    "a module": _FUNCTION + " HANDLER 'bomb.f';" + VIEWS,
    "a comment that names a module": "-- HANDLER 'bomb.f'" + VIEWS,
    "a comment in a program with functions": "-- HANDLER 'bomb.f' of a FUNCTION" + VIEWS,
    "a method of Java": "CREATE VIEW v AS SELECT 1 AS k, java_method('java.lang.System', 'setProperty', "
    "'bomb', c) AS s FROM VALUES ('{trace}') AS u(c);",
}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The file that code of the directory would leave."""
    return tmp_path / "trace"


def python(trace: Path) -> str:
    return f"open({str(trace)!r}, 'w').close()"


def made(spark: Any, state: Path, program: Path) -> None:
    with Pipeline(program, state=state, spark=spark, runner="inline") as pipeline:
        pipeline.insert("t", [(1, 2), (1, 3), (2, 4)])
        pipeline.step()


def query(state: Path, select: str, *options: str) -> Result:
    return CliRunner().invoke(main, ["query", str(state), select, "--output", "json", *options])


def test_views_are_read_without_the_functions_they_call(spark: Any, tmp_path: Path, trace: Path) -> None:
    (tmp_path / "beside.py").write_text(f"{python(trace)}\ndef g(x):\n    return 3 * x\n")
    (tmp_path / "p.sql").write_text(FUNCTIONS.format(top=python(trace)))
    made(spark, tmp_path / "state", tmp_path / "p.sql")
    assert trace.exists()  # the program itself runs them
    trace.unlink()
    asked = query(tmp_path / "state", "SELECT sum(s) AS s, sum(u) AS u FROM v")
    assert (asked.stdout, asked.stderr) == ('{"s": 18, "u": 27}\n', "")
    assert query(tmp_path / "state", "SELECT k FROM v", "--as-of", "1").exit_code == 0
    for name in ("twice", "THRICE"):
        refused = query(tmp_path / "state", f"SELECT {name}(k) FROM v")
        assert refused.exit_code == 1
        assert refused.stderr == (
            f"'{name}' is a function of the program, and a query runs no code of a state directory: "
            "ask a view whose column calls it; views: v\n"
        )
    assert not trace.exists()


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_a_directory_says_its_program_is_never_runs(
    spark: Any, tmp_path: Path, trace: Path, bomb: str
) -> None:
    state, program = tmp_path / "state", tmp_path / "p.sql"
    program.write_text(VIEWS)
    made(spark, state, program)
    (tmp_path / "bomb.py").write_text(f"{python(trace)}\ndef f(x):\n    return x\n")
    record = json.loads((state / "program.json").read_text())
    text = BOMBS[bomb].format(go=python(trace), trace=trace)
    records = [[], _records(trace)] if "a module" in bomb else [[]]
    system = spark._jvm.java.lang.System
    for record["functions"] in records:
        (state / "program.json").write_text(json.dumps(record | {"text": text}))
        asked = query(state, "SELECT count(*) AS n FROM v")
        assert not trace.exists()
        assert system.getProperty("bomb") is None
        assert "bomb" not in sys.modules
        if asked.exit_code:  # refused as a user's mistake would be, if not read
            assert asked.exit_code == 1, asked.exception
            assert asked.stderr.count("\n") == 1
            assert isinstance(asked.exception, SystemExit)
        else:
            assert asked.stdout == '{"n": 2}\n'


@pytest.mark.parametrize(
    "bomb", [bomb for bomb in BOMBS if bomb.startswith(("the top", "a default", "a mod"))]
)
def test_a_program_of_the_user_s_does_run(spark: Any, tmp_path: Path, trace: Path, bomb: str) -> None:
    (tmp_path / "bomb.py").write_text(f"{python(trace)}\ndef f(x):\n    return x\n")
    compile_program(BOMBS[bomb].format(go=python(trace)), str(tmp_path / "p.sql"), session=spark)
    assert trace.exists()


def test_compiling_calls_no_method_of_java(spark: Any, trace: Path) -> None:
    with pytest.raises(ProgramError, match="java_method\\(\\) is not deterministic"):
        compile_program(BOMBS["a method of Java"].format(trace=trace), session=spark)
    assert spark._jvm.java.lang.System.getProperty("bomb") is None


def _records(trace: Path) -> list[dict[str, object]]:
    """What a record has, and code besides."""
    record = {"name": "f", "style": "values", "aggregate": False, "identity": "0", "types": ["BIGINT"]}
    return [record | {"result": "BIGINT", "code": pickle.dumps(_Bomb(trace)).hex()}]


class _Bomb:
    """Unpickled, it leaves the trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Path.touch, (self.trace,)  # type: ignore[return-value]


def test_a_segment_is_never_unpickled(spark: Any, tmp_path: Path, trace: Path) -> None:
    state, program = tmp_path / "state", tmp_path / "p.sql"
    program.write_text(VIEWS)
    made(spark, state, program)
    pickled = pickle.dumps(_Bomb(trace))
    for segment in (state / "segments").iterdir():
        name = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickled}
        schema = pa.schema([pa.field("k", pa.int32(), metadata=name)])
        with pa.OSFile(str(segment), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            stream.write_batch(pa.RecordBatch.from_arrays([pa.array([1], pa.int32())], schema=schema))
    query(state, "SELECT * FROM v")
    assert not trace.exists()
