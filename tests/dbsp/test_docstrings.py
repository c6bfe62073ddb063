"""The examples in the docstrings of what is called from Python print what they say, and none is missing."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dbsp
import dbsp.testing
from dbsp.circuits.expressions.nodes import Column
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Scan
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field
from dbsp.views.changes import Changes, ViewChanges
from dbsp.views.derivation import Why
from dbsp.views.explained.explanation import Explanation
from dbsp.views.view import Contents
from tests.dbsp.build import pipeline, program, table, view

EXAMPLES = Path(__file__).parents[2] / "examples"
CLASSES = (Pipeline, Contents, Changes, ViewChanges, Why, Explanation)
# those whose examples compile SQL
COMPILED = {"Pipeline.sql", "Asked.sql_schema", "load", "assert_equals_spark", "assert_replay", "plan", "pin"}
# what sources, sinks and the server call, and what the package itself reads
INNER = {
    *("Feeding.change", "Feeding.hold", "Feeding.refuse", "Feeding.excuse", "Stepping.committed"),
    *(
        "Delivering.redeliver",
        "Pipeline.edits",
        "Asked.plans_found",
        "Searched.has_index",
        "Contents.leading",
        "Searched.among",
    ),
    *("Contents.zset", "Contents.sorted", "Contents.parts", "Contents.in_order", "ViewChanges.parts"),
    *("ViewChanges.zset", "ViewChanges.added_up"),
}
# of these an example wants a source, a notebook, a column with LATENESS, or a session of Spark's
ELSEWHERE = {
    *("Driven.run", "Driven.start", "Contents.live", "Contents.to_spark", "Feeding.advance"),
    "session",
}


def named() -> dict[str, Any]:
    """By its name all that is called from Python: what is exported, and the methods of what that gives."""
    found: dict[str, Any] = {}
    exported = [getattr(module, name) for module in (dbsp, dbsp.testing) for name in module.__all__]
    for one in exported:
        if inspect.isroutine(one) or (inspect.isclass(one) and not issubclass(one, Exception)):
            found[one.__qualname__] = one
    for one in CLASSES:
        found[one.__name__] = one
        for method in methods(one):
            found[method.__qualname__] = method
    return found


def methods(of: type) -> Iterator[Callable[..., Any]]:
    for name, value in inspect.getmembers_static(of):
        method = value.fget if isinstance(value, property) else value
        method = method.func if isinstance(method, cached_property) else method
        if not name.startswith("_") and inspect.isfunction(method) and method.__module__.startswith("dbsp."):
            yield method


NAMED = named()


def shop() -> Program:
    """CREATE VIEW turnover AS SELECT buyer, sum(price) AS total FROM sale GROUP BY buyer."""
    sale = (Field("id", pa.int64(), False), Field("buyer", pa.string()), Field("price", pa.int64()))
    total = AggregateCall("sum", (Column(2, pa.int64()),), pa.int64(), True)
    summed = (Field("buyer", pa.string()), Field("total", pa.int64()))
    by_buyer = Aggregate(Scan("sale", sale), (Column(1, pa.string()),), (total,), summed)
    return program([table("sale", sale, ("id",))], [view("turnover", by_buyer)])


def has_example(documented: Any) -> bool:
    return ">>> " in (documented.__doc__ or "")


def check(documented: Any, state: Path, **options: Any) -> None:
    """Its own docstring, not those of its methods."""
    finder = doctest.DocTestFinder(recurse=False)
    with pipeline(program=shop(), **options) as p:
        p.insert("sale", [(1, "Ada", 5), (2, "Bob", 7)])
        p.step()
        known = {"p": p, "dbsp": dbsp, "state": state, "datetime": datetime, "UTC": UTC, "examples": EXAMPLES}
        known |= {name: getattr(dbsp.testing, name) for name in dbsp.testing.__all__}
        inside = inspect.unwrap(documented)
        (examples,) = finder.find(inside, inside.__qualname__, globs=known)
        assert examples.examples, "no example"
        report: list[str] = []
        failed, _ = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=report.append)
        assert not failed, "".join(report)


def test_everything_has_an_example_or_a_reason() -> None:
    without = {name for name, documented in NAMED.items() if not has_example(documented)}
    assert without == INNER | ELSEWHERE
    assert NAMED.keys() >= COMPILED


@pytest.mark.parametrize("name", [n for n in NAMED if has_example(NAMED[n]) and n not in COMPILED])
def test_an_example_prints_what_it_says(name: str, tmp_path: Path) -> None:
    check(NAMED[name], tmp_path / "state")


@pytest.mark.spark
@pytest.mark.parametrize("name", sorted(COMPILED))
def test_so_does_one_that_is_compiled(spark: Any, name: str, tmp_path: Path) -> None:
    check(NAMED[name], tmp_path / "state", spark=spark)
