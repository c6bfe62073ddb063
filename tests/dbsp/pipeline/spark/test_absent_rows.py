"""What a source takes back in vain of a table with DEFAULTs: a bad row, once each, and the views go on."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import load_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE visit (id BIGINT, page STRING DEFAULT 'home', at TIMESTAMP DEFAULT now(), __weight BIGINT)
USING json OPTIONS (path '{0}/in');
CREATE VIEW visits AS SELECT * FROM visit;
CREATE VIEW pages AS {1};
"""
PAGES = "SELECT page, count(*) AS n, count(id) AS ids, max(at) AS last FROM visit GROUP BY page"
NEVER = datetime(2020, 1, 1, tzinfo=UTC)
NOT_THERE = "the row is taken back, and isn't there"


def drawn(draw: random.Random, held: Counter[Any]) -> list[tuple[Any, ...]]:
    """Records of a step: values and a weight."""
    ids, pages, times = [None, 1, 2], [None, "home", "about"], [None, NEVER, NEVER + timedelta(days=1)]
    records: list[tuple[Any, ...]] = []
    for _ in range(30):
        row = (draw.choice(ids), draw.choice(pages), draw.choice(times))
        records.append((*row, draw.choice([-2, -1, 1, 1, 2])))
    records += [(*draw.choice([*held]), -draw.choice([1, 2, 3])) for _ in range(10) if held]
    draw.shuffle(records)
    return records


def expected(held: Counter[Any], records: list[tuple[Any, ...]], clock: datetime) -> Counter[Any]:
    """The step's bad rows, by values and reason; held becomes what is left."""
    bad: Counter[Any] = Counter()
    for id_, page, at, weight in records:
        if weight < 0 and (page is None or at is None):
            column = "'page' (STRING" if page is None else "'at' (TIMESTAMP"
            bad[id_, page, at, f"no value; a row needs one in column {column} NOT NULL)"] += 1
        else:
            held[id_, page or "home", at or clock] += weight
    for row, count in [*held.items()]:
        if count < 0:
            bad[(*row, NOT_THERE)] = -count
    for row in [row for row, count in held.items() if count <= 0]:
        del held[row]
    return bad


def found(row: dict[str, Any]) -> tuple[Any, ...]:
    """A bad row as `expected` says it."""
    values = json.loads(row["text"])
    at = values["at"] and datetime.fromisoformat(values["at"]).replace(tzinfo=UTC)
    return values["id"], values["page"], at, row["reason"].partition("; the record")[0]


def test_the_views_are_spark_s_of_what_remains(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    program, state = tmp_path / "visits.sql", tmp_path / "state"
    program.write_text(TEXT.format(tmp_path, PAGES))
    draw, held = random.Random(5), Counter[Any]()
    for step in range(1, 4):
        records = drawn(draw, held)
        lines = [
            json.dumps({"id": i, "page": page, "at": at and at.isoformat(), "__weight": weight})
            for i, page, at, weight in records
        ]
        (tmp_path / "in" / f"{step}.json").write_text("\n".join(lines) + "\n")
        done = CliRunner().invoke(main, ["run", str(program), "--state", str(state), "--once"])
        assert done.exit_code == 0, done.output
        with Pipeline(load_program(program, session=spark), state=state, spark=spark) as p:
            assert (p.last_step, p.clock is not None) == (step, True)
            assert p.clock is not None
            bad = expected(held, records, p.clock)
            assert len({reason for *_, reason in bad}) == 3
            assert Counter(found(row) for row in p["bad_rows"].rows() if row["step"] == step) == bad
            assert Counter(tuple(row.values()) for row in p["visits"].rows()) == held
            rest = spark.createDataFrame([*held.elements()], "id BIGINT, page STRING, at TIMESTAMP")
            rest.createOrReplaceTempView("visit")
            wanted = spark.sql(PAGES + " ORDER BY page").toArrow().to_pylist()
            assert sorted(p["pages"].rows(), key=lambda row: row["page"]) == wanted
