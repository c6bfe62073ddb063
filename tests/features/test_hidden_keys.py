"""A view that selects no key can be upserted: its target gets the key beside, and holds one row of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.steps.contents import contents
from dbsp.commands.query import query_state
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import SHOW_KEY, compile_program
from tests.effort import examples

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE users (id INT NOT NULL, name STRING, PRIMARY KEY (id));
CREATE TABLE clicks (number INT NOT NULL, user INT, url STRING, PRIMARY KEY (number));
CREATE VIEW named AS SELECT u.name, c.url FROM clicks c JOIN users u ON c.user = u.id WHERE url <> 'a';
CREATE TABLE written (name STRING, number INT NOT NULL, url STRING, __op STRING, PRIMARY KEY (number))
  USING noop;
INSERT INTO written SELECT * FROM named;
CREATE TABLE shouted (number INT NOT NULL, loud STRING, __op STRING, PRIMARY KEY (number)) USING noop;
INSERT INTO shouted (loud) SELECT upper(name) FROM named WHERE name IS NOT NULL;
"""
users = st.tuples(st.integers(0, 2), st.sampled_from(["x", "y", None]))
clicks = st.tuples(st.integers(0, 3), st.integers(0, 2), st.sampled_from(["a", "b", "c"]))
steps = st.lists(
    st.tuples(
        st.lists(users, max_size=2),
        st.lists(clicks, max_size=3),
        st.lists(st.integers(0, 3), max_size=1),
    ),
    min_size=1,
    max_size=5,
)  # fmt: skip


@pytest.fixture(scope="module")
def compiled(spark: Any) -> Any:
    return compile_program(PROGRAM, session=spark)


@examples(15)
@given(steps=steps)
def test_a_target_holds_a_row_of_each_key(compiled: Any, steps: list[Any]) -> None:
    inserts = {insert.target: insert for insert in compiled.inserts}
    names = [field.name for field in compiled.tables["written"].schema if field.name != "__op"]
    written, shouted = inserts["written"], inserts["shouted"]
    assert [compiled.views[written.view].schema[i].name for i in given_by(written)] == names
    assert [compiled.views[shouted.view].schema[i].name for i in shouted.key] == ["number"]
    known: dict[int, Any] = {}
    clicked: dict[int, Any] = {}
    with Pipeline(compiled, runner="inline") as p:
        for named, came, gone in steps:
            p.upsert("users", named)
            p.upsert("clicks", came)
            p.delete("clicks", [{"number": number} for number in gone])
            p.step()
            known |= dict(named)
            clicked |= {number: rest for number, *rest in came}
            for number in gone:
                clicked.pop(number, None)
            rows = {
                number: (known[user], url)
                for number, (user, url) in clicked.items()
                if user in known and url != "a"
            }
            assert held(p, written) == {number: [(name, number, url)] for number, (name, url) in rows.items()}
            assert held(p, shouted) == {
                number: [(number, name.upper())] for number, (name, _) in rows.items() if name is not None
            }


@pytest.fixture(scope="module")
def both(spark: Any) -> Any:
    """A program, and the same with keys shown."""
    return compile_program(SHOWN, session=spark), compile_program(SHOWN + SHOW_KEY, session=spark)


SHOWN = f"""{PROGRAM}
CREATE VIEW above AS SELECT * FROM named WHERE url > 'b';
CREATE VIEW names AS SELECT name, count(*) AS n FROM named GROUP BY name;
CREATE VIEW of_user AS SELECT user, count(*) AS n FROM clicks GROUP BY user, url;
CREATE TABLE changed (name STRING, url STRING, __weight BIGINT) USING noop;
INSERT INTO changed SELECT * FROM named
-- no semicolon"""


@examples(15)
@given(steps=steps)
def test_a_key_that_is_shown_tells_rows_apart_and_changes_nothing_else(both: Any, steps: list[Any]) -> None:
    plain, shown = both
    added = {"named": ["__key_number"], "above": ["__key_number"], "of_user": ["__key_url"]}
    with Pipeline(plain, runner="inline") as p, Pipeline(shown, runner="inline") as q:
        assert [*q.views] == [*p.views]
        for named, came, gone in steps:
            for one in (p, q):
                one.upsert("users", named)
                one.upsert("clicks", came)
                one.delete("clicks", [{"number": number} for number in gone])
            narrow, wide = p.step(), q.step()
            for view in p.views:
                keys = added.get(view, [])
                assert wide[view].to_arrow().column_names == [
                    *narrow[view].to_arrow().column_names[:-1],
                    *keys,
                    "__weight",
                ]
                assert summed(wide[view].rows(), keys) == summed(narrow[view].rows(), [])
                rows = q[view].rows()
                assert len({tuple(sorted(row.items(), key=str)) for row in rows}) == len(rows)
            assert [insert.target for insert in shown.inserts] == [insert.target for insert in plain.inserts]
            written = [
                contents(
                    one.program.circuit, one._position.state, one.program.inserts[-1].view, one.store.segments
                )
                for one in (p, q)
            ]
            assert written[0] == written[1]


def test_a_query_of_views_that_hold_their_keys(both: Any, tmp_path: Path) -> None:
    plain, shown = both
    with Pipeline(plain, state=tmp_path / "s", runner="inline") as p:
        p.upsert("users", [(1, "x")])
        p.upsert("clicks", [(5, 1, "b")])
        p.step()
    asked = str(tmp_path / "s"), "SELECT * FROM named", None, "json", "first read"
    assert list(query_state(*asked)) == ['{"name": "x", "url": "b"}']
    with pytest.raises(ProgramError, match=r"'named' holds no key of its rows; .* --show-key --evolve"):
        list(query_state(*asked, show_key=True))
    of_names = (asked[0], "SELECT * FROM names", *asked[2:])
    assert list(query_state(*of_names, show_key=True)) == ['{"name": "x", "n": 1}']
    with Pipeline(shown, state=tmp_path / "s", runner="inline", evolve=True):
        assert list(query_state(*asked, show_key=True)) == ['{"name": "x", "url": "b", "__key_number": 5}']


def summed(rows: list[Any], without: list[str]) -> dict[Any, int]:
    total: dict[Any, int] = {}
    for row, weight in rows:
        kept = tuple((name, value) for name, value in row.items() if name not in without)
        total[kept] = total.get(kept, 0) + weight
    return {row: weight for row, weight in total.items() if weight}


def given_by(insert: Any) -> list[int]:
    """The places in its view of the columns that it gives the target."""
    return [place for place in insert.columns if place is not None]


def held(pipeline: Pipeline, insert: Any) -> dict[Any, list[tuple[Any, ...]]]:
    """By the target's key its rows: what the view that is written holds."""
    rows = contents(pipeline.program.circuit, pipeline._position.state, insert.view, pipeline.store.segments)
    columns = [rows.rows.column(i).to_pylist() for i in given_by(insert)]
    total = dict(zip(zip(*columns, strict=True), rows.weights.tolist(), strict=True))
    (key,) = (given_by(insert).index(place) for place in insert.key)
    found: dict[Any, list[tuple[Any, ...]]] = {}
    for row, weight in total.items():
        found.setdefault(row[key], []).extend([row] * weight)
    return found


@pytest.mark.parametrize(
    ("target", "insert", "message"),
    [
        (
            "name STRING, PRIMARY KEY (name)",
            "SELECT name FROM named WHERE name IS NOT NULL",
            "has no stream key",
        ),
        ("number INT, name STRING, PRIMARY KEY (number)", "SELECT * FROM named", "CAST it"),
        ("number INT, PRIMARY KEY (number)", "SELECT count(*) FROM named GROUP BY url", "more|INT|key"),
    ],
)
def test_another_key_is_refused(spark: Any, target: str, insert: str, message: str) -> None:
    text = PROGRAM + f"CREATE TABLE other ({target}) USING noop; INSERT INTO other {insert};"
    with pytest.raises(ProgramError, match=message):
        compile_program(text, session=spark)
