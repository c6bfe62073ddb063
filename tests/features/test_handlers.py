"""Functions of modules beside a program, and state that was made with functions which aren't in its text."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner

import dbsp
from dbsp.circuits.errors import Error, ProgramError, StateError
from dbsp.commands.cli import main
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

MODULE = """
import pyarrow.compute as pc
from shop.prices import cents

LIMIT = 3
BROKEN = "a text"

def times(x):
    return None if x is None else cents(x) * LIMIT

def short(x):
    return x[:1]

def text(x):
    return pc.cast(x, "string")

def most(values):
    return max(values)
"""
PROGRAM = """
CREATE TABLE t (k INT, x BIGINT);
CREATE FUNCTION times(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER 'shop.udfs.times';
CREATE AGGREGATE FUNCTION most(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER = 'shop.udfs.most';
CREATE VIEW v AS SELECT k, times(x) AS y FROM t;
CREATE VIEW w AS SELECT k, most(x) AS m FROM t GROUP BY k;
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "__init__.py").write_text("")
    (shop / "prices.py").write_text("def cents(x):\n    return x * 100\n")
    (shop / "udfs.py").write_text(MODULE)
    (shop / "failing.py").write_text("import nothing_like_it\n")
    (tmp_path / "program.sql").write_text(PROGRAM)
    return tmp_path


def run(*arguments: object) -> Any:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_by_the_command_line(spark: Any, project: Path) -> None:
    (project / "deltas.sql").write_text("INSERT INTO t VALUES (1, 2), (1, 5), (2, NULL);")
    (project / "less.sql").write_text("DELETE FROM t VALUES (1, 5);")
    program, state = project / "program.sql", project / "state"
    first = run("step", program, project / "deltas.sql", "--state", state, "--output", "csv")
    assert first.exit_code == 0, first.stderr
    assert "1500" in first.stdout
    again = run("step", program, project / "less.sql", "--state", state, "--output", "text")
    assert again.stdout.splitlines() == [
        "step 2",
        "  v  -1  k=1 y=1500",
        "  w  +1  k=1 m=2",
        "  w  -1  k=1 m=5",
    ]
    for command in ("check", "explain"):
        assert run(command, program).exit_code == 0
    # the module isn't needed to read what is there
    (project / "shop").rename(project / "elsewhere")
    asked = run("query", state, "SELECT sum(y) AS y FROM v", "--output", "json")
    assert (asked.stdout, asked.stderr) == ('{"y": 600}\n', "")
    missing = run("step", program, project / "less.sql", "--state", state)
    assert missing.exit_code == 1
    assert "program.sql:3:72: function 'times': there is no module 'shop'" in missing.stderr
    assert "shop" not in sys.modules


def test_on_spark(spark: Any, project: Path) -> None:
    with dbsp.Pipeline(project / "program.sql", spark=spark, partitions=2) as pipeline:
        pipeline.insert("t", [(1, 2), (2, 5)])
        pipeline.step()
        assert pipeline["v"].rows() == [{"k": 1, "y": 600}, {"k": 2, "y": 1500}]


def test_a_module_s_code_is_part_of_the_program(spark: Any, project: Path) -> None:
    opened: Callable[[], dbsp.Pipeline] = lambda: dbsp.Pipeline(  # noqa: E731
        project / "program.sql", state=project / "state", runner="inline", spark=spark
    )
    for _ in range(2):
        with opened() as pipeline:
            pipeline.insert("t", [(1, 2)])
            pipeline.step()
    (project / "shop" / "prices.py").write_text("def cents(x):\n    return x * 1000\n")
    with pytest.raises(StateError, match="holds the state of"):
        opened()


REFUSED = {
    "shop.udfs.time": "module 'shop.udfs' has no 'time'; it has: times, short, text, most; did you mean 't",
    "shop.udfs.BROKEN": "'shop.udfs.BROKEN' is a str and can't be called",
    "shop.nothing.f": "there is no module 'shop.nothing', neither beside the program in ",
    "nowhere_at_all.f": "there is no module 'nowhere_at_all', neither beside the program in ",
    "shop.failing.f": "importing 'shop.failing' fails: ModuleNotFoundError",
    "go": "HANDLER 'go' names no module's function: write 'module.function', or the text",
    "shop..f": "HANDLER 'shop..f' names no module's function: write 'module.function', or the text",
}


@pytest.mark.parametrize("handler", REFUSED)
def test_what_is_no_function_of_a_module(spark: Any, project: Path, handler: str) -> None:
    name = str(project / "program.sql")
    text = f"{PROGRAM}CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON HANDLER '{handler}'"
    with pytest.raises(ProgramError) as raised:
        compile_program(text, name, session=spark)
    assert str(raised.value).startswith(f"{name}:7:68: function 'f': {REFUSED[handler]}")


RESULTS = {
    "short": "view 'u': f(x): [PYTHON_FUNCTION_RESULT] function 'f' returned 1 values for 2 rows",
    "text": "view 'u': f(x): [PYTHON_FUNCTION_RESULT] function 'f' returned string, "
    "but is declared to return int64",
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_does_not_fit_names_view_and_function(spark: Any, project: Path, name: str) -> None:
    function = "CREATE FUNCTION f(x BIGINT) RETURNS BIGINT LANGUAGE PYTHON PARAMETER STYLE ARROW HANDLER"
    text = f"{PROGRAM}{function} 'shop.udfs.{name}'; CREATE VIEW u AS SELECT f(x) AS y FROM t"
    with dbsp.Pipeline(compile_program(text, str(project / "p.sql"), session=spark), runner="inline") as p:
        p.insert("t", [(1, 2), (2, 5)])
        with pytest.raises(Error) as raised:
            p.step()
        assert str(raised.value) == RESULTS[name]


@dbsp.udf(returns="BIGINT", arguments=["BIGINT"])
def twice(x: pa.Array) -> pa.Array:
    return pc.add(x, x)


def test_a_state_of_functions_handed_over_can_be_queried(spark: Any, tmp_path: Path) -> None:
    text = "CREATE TABLE t (x BIGINT); CREATE VIEW v AS SELECT twice(x) AS y FROM t;"
    state = tmp_path / "state"
    with dbsp.Pipeline(sql=text, functions=[twice], state=state, spark=spark, runner="inline") as pipeline:
        pipeline.insert("t", [(4,)])
        pipeline.step()
    asked = run("query", state, "SELECT * FROM v", "--output", "json")
    assert (asked.stdout, asked.stderr) == ('{"y": 8}\n', "")
    assert "code" not in json.loads((state / "program.json").read_text())["state of"]["functions"][0]
    # nothing of the record is in the cache of compiled programs
    with dbsp.Pipeline(sql=text, functions=[twice], state=state, spark=spark, runner="inline") as pipeline:
        pipeline.insert("t", [(5,)])
        assert pipeline.step()["v"].rows() == [({"y": 10}, 1)]
    (tmp_path / "p.sql").write_text(text)
    (tmp_path / "d.sql").write_text("INSERT INTO t VALUES (1);")
    refused = run("step", tmp_path / "p.sql", tmp_path / "d.sql", "--state", state)
    assert refused.exit_code == 1
    assert (
        "p.sql:1:52: unknown function 'twice'; declare your own by CREATE FUNCTION, or hand" in refused.stderr
    )
