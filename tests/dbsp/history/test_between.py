"""The changes since a step, and the view as of it, are the view: whatever is kept of the steps between."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import ProgramError, StateError
from dbsp.circuits.traces import spine
from dbsp.pipeline.pipeline import Pipeline
from tests.dbsp.build import feed, pipeline
from tests.effort import examples

VIEWS = ("all_votes", "counts", "customers")
VOTES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1)), max_size=4)
STEP = st.tuples(VOTES, VOTES, st.lists(st.integers(0, 2), max_size=2))


@pytest.fixture(scope="module", autouse=True)
def merged() -> Any:
    """Traces merge all the time."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"SMALL": 1, "PIECE": 4, "FAN_IN": 2, "WIDE": 1 << 40}.items():
            patch.setattr(spine, name, value)
        yield


def rows(p: Pipeline, view: str, step: int) -> Counter[Any]:
    return Counter(tuple(row.values()) for row in p.view(view, as_of=step).rows()) if step else Counter()


def summed(table: pa.Table) -> Counter[Any]:
    total: Counter[Any] = Counter()
    names = [name for name in table.column_names if name not in ("__weight", "__step")]
    for row in table.to_pylist():
        total[tuple(row[name] for name in names)] += row["__weight"]
    return total


def plus(one: Counter[Any], two: Counter[Any]) -> Counter[Any]:
    total = Counter(one)
    total.update(two)
    return Counter({row: weight for row, weight in total.items() if weight})


@given(steps=st.lists(STEP, min_size=2, max_size=7), keep=st.integers(1, 8), tagged=st.integers(1, 7))
@examples(6)
def test_as_of_and_the_changes_since_are_as_of(steps: list[Any], keep: int, tagged: int) -> None:
    with pipeline(keep_steps=keep) as p:
        present: Counter[Any] = Counter()
        then: dict[int, dict[str, Counter[Any]]] = {0: {view: Counter() for view in VIEWS}}
        for inserted, deleted, upserted in steps:
            present.update(inserted)
            gone = [vote for vote in set(deleted) if present[vote] > 0]
            present.subtract(gone)
            p.insert("votes", inserted)
            p.delete("votes", gone)
            p.upsert("customer", [{"id": each, "name": f"{p.last_step}"} for each in set(upserted)])
            p.step()
            then[p.last_step] = {view: rows(p, view, p.last_step) for view in VIEWS}
            if p.last_step == tagged:
                p.store.tags.add("it", tagged)
        kept = [0, *p.store.steps]
        for i, since in enumerate(kept):
            for until in kept[i:]:
                if until == 0:
                    continue
                for view in VIEWS:
                    changes = p.changes(view, since=since, until=until)
                    assert plus(then[since][view], summed(changes)) == plus(then[until][view], Counter())
                    assert len(set(map(str, changes.to_pylist()))) == len(changes)  # consolidated
        first = p.store.unbroken - 1
        each = p.changes("counts", since=first, each=True) if first in kept else None
        if each is not None:
            assert plus(then[first]["counts"], summed(each)) == then[p.last_step]["counts"]
            assert set(each["__step"].to_pylist()) <= {*range(first + 1, p.last_step + 1)}


def test_it_reads_what_changed_and_not_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    with pipeline(keep_steps=2) as p:
        p.insert("votes", [(n, n) for n in range(5000)])
        p.step()
        monkeypatch.setattr(spine, "FAN_IN", 8)
        p.store.tags.add("then", 1)
        for n in range(4):
            p.insert("votes", [(n, 0)])
            p.step()
        opened: list[int] = []
        read = p.store.segments.open
        monkeypatch.setattr(
            p.store.segments, "open", lambda chunk, *more: opened.append(chunk.rows) or read(chunk, *more)
        )
        p.store.segments.kept.forget({*p.store.segments.kept.segments})
        assert len(p.changes("all_votes", since="then")) == 4
        assert sum(opened) == 4


def test_what_can_t_be_told(tmp_path: Path) -> None:
    with pipeline(tmp_path / "s", keep_steps=2) as p:
        feed(p)
        p.store.tags.add("it", 3)
        p.step()
        p.step()
        p.step()
        for since, until, said in [
            (2, None, "step 2 is not kept"),
            (7, 6, "since step 7 is after step 6"),
            (8, None, "step 8 is not kept; steps 6 to 7 are"),
        ]:
            with pytest.raises(StateError, match=said):
                p.changes("counts", since=since, until=until)
        with pytest.raises(
            StateError, match=r"step 4 is not kept; steps 6 to 7 are, and tagged are 3 \('it'\)"
        ):
            p.changes("counts", since="it", each=True)
        with pytest.raises(ProgramError, match="unknown view 'count'"):
            p.changes("count", since=6)
        assert p.changes("counts", since=7, each=True).schema.names == ["story_id", "n", "__weight", "__step"]
