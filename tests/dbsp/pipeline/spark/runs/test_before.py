"""Tables whose source is another than it was, or read otherwise, under the same fingerprint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline

pytestmark = pytest.mark.spark

T, U = "CREATE TABLE t (id INT)", "CREATE TABLE u (id INT)"
FILES = " USING json OPTIONS (path '{root}/{name}')"
COMPARED = " WITH (snapshot = 'every step')"
FED, STREAM, SNAPSHOT = "", FILES, FILES + COMPARED
VIEWS = "CREATE VIEW n AS SELECT count(*) AS n FROM t; CREATE VIEW m AS SELECT count(*) AS m FROM u;"
MORE = "CREATE VIEW more AS SELECT max(id) AS id FROM t;"


def opened(spark: Any, root: Path, t: str, u: str, more: str = "", **options: Any) -> Pipeline:
    tables = [
        f"{table}{how.format(root=root, name=name)};" for table, how, name in ((T, t, "t"), (U, u, "u"))
    ]
    text = "\n".join([*tables, VIEWS, more])
    return Pipeline(sql=text, state=root / "state", spark=spark, runner="inline", **options)


def come(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(exist_ok=True)
        number = len(list((root / name).iterdir()))
        (root / name / f"{number}.json").write_text(json.dumps({"id": number}) + "\n")


def ran(spark: Any, root: Path, t: str, u: str, more: str = "", **options: Any) -> tuple[int, int]:
    with opened(spark, root, t, u, more, **options) as p:
        p.run(once=True)
        return p["n"].rows()[0]["n"], p["m"].rows()[0]["m"]


OF_T = r"table 't' was compared with its source.* once more; .*give the table another name"
ONE_OF_TWO = r"1 table was read as streams so far, and now 2 are \(t, u\): USING can't come or go alone"
TWO_OF_ONE = r"2 tables were read as streams so far, and now 1 is \(u\): USING can't come or go alone"


@pytest.mark.parametrize("evolve", [False, True])
@pytest.mark.parametrize(
    ("before", "now", "error"),
    [
        ((SNAPSHOT, FED), (STREAM, FED), OF_T),
        ((SNAPSHOT, STREAM), (STREAM, STREAM), OF_T),
        ((SNAPSHOT, STREAM), (STREAM, FED), OF_T),
        ((FED, STREAM), (STREAM, STREAM), ONE_OF_TWO),
        ((STREAM, STREAM), (FED, STREAM), TWO_OF_ONE),
    ],
)
def test_what_would_be_read_once_more_or_in_another_s_place_is_refused(
    spark: Any, tmp_path: Path, before: tuple[str, str], now: tuple[str, str], error: str, evolve: bool
) -> None:
    """But not who only looks; and the program as it was goes on."""
    come(tmp_path, "t", "u")
    there = ran(spark, tmp_path, *before)
    with opened(spark, tmp_path, *now, evolve=evolve) as p:
        assert (p["n"].rows()[0]["n"], p["m"].rows()[0]["m"]) == there
        with pytest.raises(StateError, match=error):
            p.run(once=True)
    if now[0] == STREAM and before[0] == SNAPSHOT:
        with pytest.raises(StateError, match=r"table 't' was compared with its source"):
            opened(spark, tmp_path, *now, MORE, evolve=True)
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, *before) == tuple(2 * n for n in there)


def test_using_comes_with_a_change_of_a_view(spark: Any, tmp_path: Path) -> None:
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, FED, STREAM) == (0, 1)
    assert ran(spark, tmp_path, STREAM, STREAM, MORE, evolve=True) == (1, 1)


@pytest.mark.parametrize("before", [(FED, FED), (SNAPSHOT, FED)])
def test_what_nothing_was_read_of_may_be_a_stream(
    spark: Any, tmp_path: Path, before: tuple[str, str]
) -> None:
    """It has rows later, and is a stream yet, whatever program.json says; then it may be compared."""
    (tmp_path / "t").mkdir()
    with opened(spark, tmp_path, *before) as p:
        p.insert("u", [(1,)])
        p.step()
    for n in (1, 2):
        come(tmp_path, "t")
        assert ran(spark, tmp_path, STREAM, FED) == (n, 1)
    come(tmp_path, "t")
    assert ran(spark, tmp_path, SNAPSHOT, FED) == (3, 1)
