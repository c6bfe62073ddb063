"""The small files of a state directory as of a step, taken while others write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.history.copied import Changing, copied
from dbsp.history.placing import place
from dbsp.state.records.commits import record_path
from dbsp.state.records.delivered import Delivery, read_delivered, write_delivered
from dbsp.state.store import Store
from tests.dbsp.build import STEPS, feed, pipeline


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with pipeline(tmp_path / "s", keep_steps=7) as p:
        feed(p)
        p.store.tags.add("it", 2)
    return tmp_path / "s"


def test_a_copy_is_of_one_step(state: Path, tmp_path: Path) -> None:
    write_delivered(state, {"out": Delivery(STEPS, "/out"), "late": Delivery(1)}, durable=False)
    store, identity = Store.read(state)
    found = copied(store, identity, 3, [1, 2])
    assert found.step == 3
    assert [commit.step for commit in found.commits] == [1, 2, 3]
    assert {name for name in found.files if "/" not in name} == {
        "program.json",
        "delivered.json",
        "keep.json",
    }
    place(found, state, tmp_path / "c")
    assert read_delivered(tmp_path / "c") == {
        "out": Delivery(3, "/out", bound=3),
        "late": Delivery(1, bound=3),
    }
    with pipeline(tmp_path / "c") as p:
        assert (p.last_step, p.store.steps, p.store.keep.steps) == (3, [1, 2, 3], 7)
        assert list(p.store.tags.all()) == ["it"]
        feed(p)
        with pipeline(state) as original:
            assert p["counts"].rows() == original["counts"].rows()


def test_what_is_forgotten_meanwhile_is_left_out_with_all_before_it(state: Path) -> None:
    store, identity = Store.read(state)
    record_path(state, 3).unlink()
    assert [commit.step for commit in copied(store, identity, 4, [1, 2, 3]).commits] == [2, 4]  # 2 is tagged
    record_path(state, 4).unlink()
    with pytest.raises(Changing, match=r"000000000004.json: went away while it was copied; try again"):
        copied(store, identity, 4, [])
