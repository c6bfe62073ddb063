"""A mutated program is refused by a dbsp.Error, or runs and equals Spark. Nothing else comes out of it."""

from __future__ import annotations

import random
import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import settings
from pyspark.errors import PySparkException

from dbsp.circuits.errors import Error, EvaluationError
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.program import Program as Compiled
from dbsp.testing.bags import same_rows
from tests.effort import QUICK
from tests.generators import mutations
from tests.generators.programs import Program
from tests.generators.strategies import Contents, Run, seeded_program, seeded_run
from tests.generators.values import ARROW, DOMAINS
from tests.laws.laws import Case, Running
from tests.oracles.oracle import Spark

pytestmark = pytest.mark.spark
MUTANTS = 12  # of each kind


def _choices() -> random.Random:
    return random.Random(0 if settings.default.derandomize else None)


def _count() -> int:
    return MUTANTS * settings.default.max_examples // QUICK


def test_any_text(spark: Any) -> None:
    """Mutated examples and papers' programs: compiled, and stepped with whatever rows their tables take."""
    choose, known = _choices(), mutations.programs_of_the_tree()
    wrong = []
    for _ in range(_count()):
        text = mutations.mutated(choose.choice(known), choose, known)
        if found := crash_of(spark, text, choose):
            wrong.append(f"{found}\n{text}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n\n".join(wrong)


def crash_of(spark: Any, text: str, choose: random.Random) -> str | None:
    """What came out that is no dbsp.Error."""
    try:
        compiled = compile_program(text, session=spark)
        if compiled.inserts:
            return None  # its rows would go somewhere
        with Running(Case(Program((), ()), compiled)) as running:
            for _ in range(3):
                for table, rows in _rows(compiled, choose):
                    running.pipeline.insert(table, rows)
                running.pipeline.step()
    except Error:
        return None
    except Exception:
        return traceback.format_exc(limit=-4)
    return None


def _rows(compiled: Compiled, choose: random.Random) -> Iterator[tuple[str, pa.Table]]:
    """Rows of the tables whose columns' types all have values."""
    values = {kind: DOMAINS[name] for name, kind in ARROW.items()}
    for table in compiled.inputs.values():
        if all(field.type in values for field in table.schema):
            columns = {
                field.name: pa.array(
                    [choose.choice(values[field.type]) for _ in range(choose.randrange(4, 5))], field.type
                )
                for field in table.schema
            }
            yield table.name, pa.table(columns)


def test_mutated_queries(spark: Any) -> None:
    """A view of a random program mutated: its rows are Spark's at every step, and so is where it fails."""
    choose, oracle = _choices(), Spark(spark)
    wrong = []
    for _ in range(_count()):
        program = seeded_program(choose.randrange(10_000), views=1)
        (view,) = program.views
        others = [other.query for other in seeded_program(choose.randrange(10_000)).views]
        query = mutations.mutated(view.query, choose, others)
        case = replace(program, views=(replace(view, query=query, duckdb=None),))
        run = seeded_run(choose.randrange(10_000), case, steps=3)
        if found := difference(spark, oracle, case, run):
            wrong.append(f"{found}\n{case.text}{run}")
    assert not wrong, f"{len(wrong)} wrong\n" + "\n\n".join(wrong)


def difference(spark: Any, oracle: Spark, program: Program, run: Run) -> str | None:
    """What is wrong; None where nothing is, or the program is refused."""
    try:
        case = Case(program, compile_program(program.text, session=spark))
    except Error:
        return None
    except Exception:
        return traceback.format_exc(limit=-4)
    contents = Contents(program.tables)
    (view,) = program.views
    with Running(case) as running:
        for number, delta in enumerate(run, 1):
            contents.apply(delta)
            held = {table.name: contents.rows(table.name) for table in program.tables}
            found: list[Any] | Exception
            try:
                running.step(delta)
                found = running.rows(view.name)
            except EvaluationError as error:
                found = error
            except Exception:
                return f"step {number}: {traceback.format_exc(limit=-4)}"
            try:
                theirs = oracle.views(program, held)[view.name]
            except PySparkException as error:
                if isinstance(found, Exception):
                    return None
                return f"step {number}: Spark says {str(error).splitlines()[0]}, ours: {found}"
            if isinstance(found, Exception):
                return f"step {number}: ours: {found}, Spark says {theirs}"
            if unlike := same_rows(found, theirs):
                return f"step {number}: {unlike}"
    return None
