"""What any sink of ours writes, a source of ours reads back as the same table.

A program writes views in every shape and format; another reads them, as its tables, sometimes several steps
at once, and some of them written again. After each reading its tables are the first one's views.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
from tests.dbsp.pipeline.spark.sales import COLUMNS, SALES, step

pytestmark = pytest.mark.spark

KEYED = "shop INT, who STRING, n BIGINT, at TIMESTAMP, PRIMARY KEY (shop, who)"
TOLD = "shop INT, who STRING, n BIGINT{0}, at TIMESTAMP, PRIMARY KEY (shop, who)"
# columns where it is written and where it is read, what else is said there, the view
EDGES = {
    "weights": (f"{COLUMNS}, __weight BIGINT", None, "", "rows_of"),
    "ops": (f"__op STRING, {COLUMNS}", None, "WITH (changelog = 'retract')", "rows_of"),
    "upserts": (f"__op STRING, {KEYED}", None, "", "per_person"),
    "told": (TOLD.format(""), TOLD.format(" NOT NULL"), "WITH (changelog = 'upsert')", "per_person"),
}
FORMATS = {
    "csv": ("ops", "told"),
    "json": tuple(EDGES),
    "parquet": ("weights", "upserts"),
    "orc": ("weights", "told"),
}
ROUNDS, STEPS = 2, 2


def edges(tmp_path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Of each edge its name, view, columns where written, columns where read, and USING."""
    for form, names in FORMATS.items():
        for name in names:
            written, read, more, view = EDGES[name]
            options = {"csv": ", header 'true'"}.get(form, "")
            using = f"USING {form} OPTIONS (path '{tmp_path}/{form}/{name}'{options}) {more}"
            yield f"{name}_{form}", view, written, read or written, using


def test_chained_programs_are_one(spark: Any, tmp_path: Path) -> None:
    draw = random.Random(0)
    all_edges = list(edges(tmp_path))
    first = SALES + "".join(
        f"CREATE TABLE {name} ({written}) {using};\nINSERT INTO {name} SELECT * FROM {view};\n"
        for name, view, written, _, using in all_edges
    )
    second = "".join(
        f"CREATE TABLE {name} ({read}) {using};\nCREATE VIEW v_{name} AS SELECT * FROM {name};\n"
        for name, _, _, read, using in all_edges
    )
    for name, *_ in all_edges:
        edge, form = name.rsplit("_", 1)
        (tmp_path / form / edge).mkdir(parents=True)
    sender, receiver = (compile_program(text, session=spark) for text in (first, second))
    present: list[tuple[Any, ...]] = []
    with Pipeline(sender, state=tmp_path / "first", spark=spark, runner="inline") as p:
        p.store.durable = False
        for _ in range(ROUNDS):
            for _ in range(STEPS):
                step(p, draw, present)
            with Pipeline(receiver, state=tmp_path / "second", spark=spark, runner="inline") as q:
                q.store.durable = False
                q.run(once=True)
                for name, view, *_ in all_edges:
                    assert q[f"v_{name}"].rows() == p[view].rows(), name
            # as when it died before it could note that the last step was written
            assert p._sinks is not None
            for name, delivery in p._sinks._delivered.items():
                p._sinks._delivered[name] = replace(delivery, step=delivery.step - 1)
            p.deliver()
