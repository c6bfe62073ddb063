"""The examples in the docstrings of what is called most: they print what they say, and none is missing."""

from __future__ import annotations

import doctest
from typing import Any

import pyarrow as pa
import pytest

from dbsp.circuits.expressions.nodes import Column
from dbsp.pipeline.asked import Asked
from dbsp.pipeline.feeding import Feeding
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.nodes import Aggregate, Scan
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Field
from dbsp.views.changes import Changes, ViewChanges
from dbsp.views.view import Contents
from tests.dbsp.build import pipeline, program, table, view

WITHOUT_SPARK = [
    *(Pipeline, Pipeline.step, Pipeline.subscribe, Feeding.insert, Feeding.delete, Feeding.upsert),
    *(Asked.changes, Changes, ViewChanges.rows),
    *(Contents.rows, Contents.lookup, Contents.where, Contents.why, Contents.between),
]


def shop() -> Program:
    """CREATE VIEW turnover AS SELECT buyer, sum(price) AS total FROM sale GROUP BY buyer."""
    sale = (Field("id", pa.int64(), False), Field("buyer", pa.string()), Field("price", pa.int64()))
    total = AggregateCall("sum", (Column(2, pa.int64()),), pa.int64(), True)
    summed = (Field("buyer", pa.string()), Field("total", pa.int64()))
    by_buyer = Aggregate(Scan("sale", sale), (Column(1, pa.string()),), (total,), summed)
    return program([table("sale", sale, ("id",))], [view("turnover", by_buyer)])


def check(documented: Any, **options: Any) -> None:
    """Its own docstring, not those of its methods."""
    finder = doctest.DocTestFinder(recurse=False)
    with pipeline(program=shop(), **options) as p:
        p.insert("sale", [(1, "Ada", 5), (2, "Bob", 7)])
        p.step()
        (examples,) = finder.find(documented, documented.__qualname__, globs={"p": p})
        assert examples.examples, "no example"
        report: list[str] = []
        failed, _ = doctest.DocTestRunner().run(examples, out=report.append)
        assert not failed, "".join(report)


@pytest.mark.parametrize("documented", WITHOUT_SPARK, ids=lambda each: each.__qualname__)
def test_an_example_prints_what_it_says(documented: Any) -> None:
    check(documented)


@pytest.mark.spark
def test_so_does_one_that_is_compiled(spark: Any) -> None:
    check(Pipeline.sql, spark=spark)
