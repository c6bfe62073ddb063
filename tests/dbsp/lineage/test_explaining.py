"""Why rows are there, by each kind of operator; and why others aren't."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.views.derivation import Derivation, Why
from tests.dbsp.lineage.programs import at, shops
from tests.laws.laws import ALWAYS
from tests.laws.small_steps import set_small

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def p() -> Iterator[Pipeline]:
    with shops() as opened:
        yield opened


def told(why: Why) -> dict[str, list[Any]]:
    """Per table, the first column of its rows; of edges both."""
    return {
        name: sorted(
            zip(*table.to_pydict().values(), strict=True) if name == "edge" else table[0].to_pylist()
        )
        for name, table in why.tables.items()
    }


@pytest.mark.parametrize(
    ("view", "key", "expected"),
    [
        ("big", 4, {"sale": [4]}),
        ("turnover", "Ada", {"sale": [4, 6, 8, 10], "shop": [1]}),
        ("rich", {"name": "Bo"}, {"sale": [5, 7, 9, 11, 100], "shop": [2]}),
        ("best", {"shop": 1, "r": 2}, {"sale": [8, 10]}),
        ("share", 4, {"sale": [0, 2, 4, 6, 8, 10]}),
        ("tagged", {"id": 4, "tag": "even"}, {"sale": [4]}),
        ("cube", {"shop": 1, "amount": None}, {"sale": [0, 2, 4, 6, 8, 10]}),
        ("cube", {"shop": None, "amount": 99}, {"sale": [100]}),
        ("idle", {"name": "Cy"}, {"shop": [3]}),
        ("busy", {"name": "Bo"}, {"shop": [2], "sale": [1, 3, 5, 7, 9, 11, 100]}),
        ("every", {"name": "Ada", "id": 2}, {"shop": [1], "sale": [2]}),
        ("every", {"name": "Cy"}, {"shop": [3]}),
        ("both", {"id": 1}, {"shop": [1], "sale": [0, 2, 4, 6, 8, 10]}),
        ("unsold", {"id": 3}, {"shop": [3]}),
        ("reach", (7, 8), {"edge": [(7, 8)]}),
        ("reach", (1, 4), {"edge": [(1, 2), (2, 3), (3, 1), (3, 4)]}),
        ("far", {"a": 1, "b": 4, "n": 3}, {"edge": [(1, 2), (2, 3), (3, 4)]}),
        ("priced", {"at": at(2)}, {"price": [1, 1]}),
    ],
)
def test_the_rows_that_count_and_no_others(
    p: Pipeline, view: str, key: Any, expected: dict[str, list[Any]]
) -> None:
    why = p.why(view, key)
    assert told(why) == expected, str(why)
    assert why.notes == []
    assert why.rows.num_rows == len(p[view].where(key)) if isinstance(key, dict) else why.rows.num_rows == 1
    assert why.lost == []


def of(why: Why, name: str) -> Derivation:
    return next(one for one in why.derivation.walk() if one.relation == name)


def test_a_view_in_between_shows_its_rows(p: Pipeline) -> None:
    why = p.why("rich", {"name": "Bo"})
    assert of(why, "turnover").batch().to_pylist() == [{"name": "Bo", "total": 195, "n": 5}]
    assert of(why, "named").rows.rows.num_rows == 5
    assert of(why, "big").rows.rows.num_rows == 5


def test_as_of_another_step_and_which_changed_it(p: Pipeline) -> None:
    now, before = p.why("turnover", "Bo"), p.why("turnover", "Bo", as_of=1)
    assert (now.step, now.made, before.step, before.made) == (2, 2, 1, 1)
    assert told(before)["sale"] == [5, 7, 9, 11]
    assert p.why("turnover", "Ada").made == 1


@pytest.mark.parametrize(
    ("view", "key", "lost", "near"),
    [
        ("turnover", "Cy", "sale", None),
        ("turnover", "Zoe", "shop", None),
        ("turnover", {"name": "Ada", "total": 3}, "aggregate by name", {"name": "Ada", "sum": 84}),
        ("rich", {"name": "Zoe"}, "shop", None),
        ("big", 2, "filter amount > 10", None),
        ("best", {"shop": 1, "id": 2}, "top 2 by shop", {"id": 10, "shop": 1}),
        ("idle", {"name": "Ada"}, "anti join", None),
        ("unsold", {"id": 1}, "except", None),
        ("reach", (8, 7), ("edge", "reach"), None),
    ],
)
def test_a_row_that_is_not_there_is_lost_somewhere(
    p: Pipeline, view: str, key: Any, lost: str | tuple[str, ...], near: dict[str, Any] | None
) -> None:
    why = p.why(view, key)
    assert why.rows.num_rows == 0 and why.made is None
    names = [one.relation or one.operator for one in why.lost]
    assert names and all(name.startswith(lost) for name in names), str(why)
    if near is not None:
        found = why.lost[0].near
        assert found is not None
        rows = found.rows.to_pylist()
        assert any(near.items() <= row.items() for row in rows), rows


def test_rows_that_nobody_keeps_are_said(p: Pipeline) -> None:
    why = p.why("visits", {"next": 2})
    assert why.notes == ["nothing keeps the rows of table 'visit'; a view SELECT * FROM visit would"]
    assert why.rows.to_pylist() == [{"next": 2}] and why.tables == {}


def test_rows_that_a_waterline_has_passed_are_said() -> None:
    """A trace of an operator's input has its rows, as long as it has: what is left must make up the row."""

    def left(why: Why) -> list[list[int]]:
        return [one.batch()["x"].to_pylist() for one in why.derivation.walk() if not one.inputs]

    with shops() as p:
        set_small(p, ALWAYS)
        key = {"sensor": 1, "start": at(1)}
        assert left(p.why("hourly", key)) == [[5, 6]]
        for hour in (21, 22):
            p.insert("reading", [(1, at(hour), 7)])
            p.step()
        why = p.why("hourly", key)
        assert left(why) == [[5.5]]
        assert why.notes == [
            "what some of these rows follow from isn't there any more: a waterline has passed it"
        ]
        assert left(p.why("hourly", {"sensor": 1, "start": at(22)})) == [[7]]


def test_a_row_that_is_there_twice_follows_from_two(p: Pipeline) -> None:
    with shops() as other:
        other.insert("edge", [(7, 8)])
        other.step()
        why = other.why("far", {"a": 7, "b": 8})
        assert told(why) == {"edge": [(7, 8), (7, 8)]} and why.rows.num_rows == 2
