"""Recursive views: each waits for all that it reads, in whatever order they are written."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from dbsp.sql.plans.nodes import Distinct
from dbsp.sql.plans.program import Program
from tests.circuits.engine import Engine
from tests.sql.hand_made import T, delta_of, random_bags
from tests.sql.recorded import check_program_refused, compiled, nodes_of

TABLE = "CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT, d BIGINT); "
PATHS = (
    "CREATE RECURSIVE VIEW p (x BIGINT, y BIGINT) AS SELECT a, b FROM t "
    "UNION SELECT p.x, t.b FROM p JOIN t ON p.y = t.a; "
)
ODD = (
    "CREATE LOCAL RECURSIVE VIEW odd (x BIGINT, y BIGINT) AS SELECT a, b FROM t "
    "UNION SELECT e.x, t.b FROM even e JOIN t ON e.y = t.a; "
)
EVEN = (
    "CREATE RECURSIVE VIEW even (x BIGINT, y BIGINT) WITH (max_iterations = 9) AS "
    "SELECT o.x, t.b FROM odd o JOIN t ON o.y = t.a; "
)


def rows_of_view(program: Program, name: str, seed: int) -> set[tuple[int | None, ...]]:
    bags = random_bags(seed)
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine(program.circuit, Path(folder))
        engine.step({"t": delta_of(T, bags["t"][:8], bags["t"][8:], 1)})
        engine.step({"t": delta_of(T, [], bags["t"][10:], -1)})
        found = engine.view(name)
    return set(zip(*(column.to_pylist() for column in found.rows.columns), strict=True))


def reached(seed: int) -> set[tuple[int | None, ...]]:
    edges = {row[:2] for row in random_bags(seed)["t"][:10]}
    paths = set(edges)
    while more := {(x, d) for x, y in paths for c, d in edges if y == c and y is not None} - paths:
        paths |= more
    return paths


def test_a_view_reads_itself() -> None:
    program = compiled(TABLE + PATHS)
    view = program.views["p"]
    assert (view.component, view.max_iterations, view.append_only) == (("p",), 1000, False)
    assert nodes_of(view.plan, Distinct)
    assert rows_of_view(program, "p", 1) == reached(1)


@pytest.mark.parametrize("text", [ODD + EVEN, EVEN + ODD], ids=["odd first", "even first"])
def test_views_that_read_each_other_are_made_at_once(text: str) -> None:
    program = compiled(TABLE + text)
    assert {name: view.component for name, view in program.views.items()} == {
        "odd": ("even", "odd"),
        "even": ("even", "odd"),
    }
    assert (program.views["odd"].kind, program.views["even"].max_iterations) == ("local", 9)


def test_a_recursion_over_rows_that_stay_only_adds() -> None:
    program = compiled(TABLE.replace("); ", ") WITH (append_only = true); ") + PATHS)
    assert program.views["p"].append_only


def test_one_that_doesnt_read_itself_is_a_distinct_view() -> None:
    program = compiled(TABLE + "CREATE RECURSIVE VIEW p (x BIGINT) AS SELECT a FROM t")
    assert program.views["p"].component == ()
    assert nodes_of(program.views["p"].plan, Distinct)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "CREATE VIEW v AS SELECT x FROM p; " + PATHS,
            "1:89: 'p' is defined further down; a view reads what is",
        ),
        (
            "CREATE RECURSIVE VIEW p (x BIGINT) AS SELECT a FROM t EXCEPT SELECT x FROM p",
            "1:96: EXCEPT over 'p' in its own recursion, which can only add rows; use it",
        ),
        (
            "CREATE RECURSIVE VIEW p (x INT) AS SELECT a FROM t UNION SELECT x FROM p",
            "1:93: column 'x' of 'p' is INT, its query gives BIGINT; CAST it",
        ),
        ("CREATE RECURSIVE VIEW t (x BIGINT) AS SELECT 1", "1:80: 't' is already defined at p.sql:1:14"),
        (
            "CREATE RECURSIVE VIEW p (x BIGINT) AS SELECT count(*) FROM p",
            "1:103: an aggregate over 'p' in its own recursion, which can only add rows",
        ),
    ],
)
def test_refused(text: str, error: str) -> None:
    check_program_refused(TABLE + text, error)
