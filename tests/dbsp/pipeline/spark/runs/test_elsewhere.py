"""A plan says what a run would refuse: files that are read elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.plan import plan
from dbsp.sql.compiler.load import load_program

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE fed (id INT);
CREATE TABLE t (id INT) USING json OPTIONS (path '{root}/in');
CREATE TABLE changelog (id INT, __weight BIGINT, __step BIGINT) USING json OPTIONS (path '{root}/out');
CREATE VIEW v AS SELECT id FROM t;
INSERT INTO changelog SELECT * FROM v;
"""
MORE = "CREATE VIEW n AS SELECT count(*) AS n FROM fed;"


@pytest.fixture
def root(spark: Any, tmp_path: Path) -> Path:
    """Of a state that has read a file, and written what came of it."""
    come(tmp_path / "in", 1)
    assert ran(spark, tmp_path, text_of(tmp_path)) == [1]
    return tmp_path


def text_of(root: Path, **places: str) -> str:
    text = TEXT.format(root=root)
    for before, now in places.items():
        text = text.replace(f"{root}/{before}'", f"{root}/{now}'")
    return text


def come(directory: Path, number: int) -> None:
    directory.mkdir(exist_ok=True)
    (directory / f"{number}.json").write_text(json.dumps({"id": number}) + "\n")


def ran(spark: Any, root: Path, text: str, evolve: bool = False) -> list[int]:
    with Pipeline(sql=text, state=root / "state", spark=spark, runner="inline", evolve=evolve) as p:
        p.run(once=True)
        return sorted(row["id"] for row in p["v"].rows())


@pytest.mark.parametrize("more", ["", MORE])
def test_it_is_what_a_run_says(spark: Any, root: Path, more: str) -> None:
    """Also of a program that changes otherwise."""
    (root / "in2").mkdir()
    why = r"table 't' was read from '.*/in/1\.json', which isn't one of '.*/in2'"
    text = text_of(root, **{"in": "in2"}) + more
    (refused,) = refused_by(root, text)
    with pytest.raises(StateError, match=why) as run:
        ran(spark, root, text, evolve=True)
    assert str(run.value).endswith(refused)
    assert not refused_by(root, text_of(root) + more)


def test_what_goes_on_where_it_is_found_is_not_refused(spark: Any, root: Path) -> None:
    (root / "out").rename(root / "out2")
    (root / "in2").symlink_to(root / "in")
    text = text_of(root, out="out2") + MORE
    assert not refused_by(root, text)
    come(root / "in", 2)
    assert ran(spark, root, text, evolve=True) == [1, 2]
    left = text.replace(f" USING json OPTIONS (path '{root}/in')", "")
    assert left != text and not refused_by(root, left)


def test_a_place_that_nobody_reads_from_any_more_is_no_other_s(spark: Any, root: Path) -> None:
    """Of tables that were read in this order, the second one has moved."""
    come(root / "late", 1)
    before = f"CREATE TABLE late (id INT) USING json OPTIONS (path '{root}/late');"
    ran(spark, root, text_of(root) + before, evolve=True)
    (why,) = refused_by(root, f"{before.replace('/late', '/later')} {text_of(root)}")
    assert "table 'late' was read from" in why
    assert not refused_by(root, f"{before} {text_of(root)}")


def refused_by(root: Path, text: str) -> tuple[str, ...]:
    found = plan(load_program(text, "p.sql"), root / "state")
    assert found.is_same <= (not found.refused)
    return found.refused
