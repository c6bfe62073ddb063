"""A view that selects no key can be upserted: its target gets the key beside, and holds one row of each."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError
from dbsp.circuits.steps.contents import contents
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.compiler.load import compile_program
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
