"""Which messages a step takes is what Spark's checkpoint says, and each is read by one task."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from dbsp.pipeline.spark.direct.spans import Span, planned_spans, shared_out


def write(checkpoint: Path, batch: int, *offsets: object) -> None:
    lines = ["v1", "{}", *("-" if each is None else json.dumps(each) for each in offsets)]
    (checkpoint / "offsets").mkdir(exist_ok=True)
    (checkpoint / "offsets" / str(batch)).write_text("\n".join(lines))


def test_a_batch_takes_what_lies_between_two_ends(tmp_path: Path) -> None:
    (tmp_path / "sources" / "1").mkdir(parents=True)
    (tmp_path / "sources" / "1" / "0").write_text('\0v1\n{"a":{"0":5,"1":0}}')
    write(tmp_path, 0, {"logOffset": 0}, {"a": {"0": 7, "1": 0}})
    write(tmp_path, 1, {"logOffset": 0}, {"a": {"0": 7, "1": 3, "2": 4}, "b": {"0": 1}})
    assert planned_spans(tmp_path, 1, 0) == [Span("a", 0, 5, 7)]
    assert planned_spans(tmp_path, 1, 1) == [Span("a", 1, 0, 3), Span("a", 2, 0, 4), Span("b", 0, 0, 1)]


def test_a_source_that_began_later_begins_where_it_says(tmp_path: Path) -> None:
    (tmp_path / "sources" / "0").mkdir(parents=True)
    (tmp_path / "sources" / "0" / "0").write_text('v1\n{"a":{"0":2}}')
    write(tmp_path, 0, None)
    write(tmp_path, 1, {"a": {"0": 4}})
    assert planned_spans(tmp_path, 0, 0) == []
    assert planned_spans(tmp_path, 0, 1) == [Span("a", 0, 2, 4)]


def test_another_version_of_the_checkpoint_is_not_guessed_at(tmp_path: Path) -> None:
    write(tmp_path, 0, {"a": {"0": 4}})
    file = tmp_path / "offsets" / "0"
    file.write_text(file.read_text().replace("v1", "v2"))
    with pytest.raises(AssertionError, match="version v2"):
        planned_spans(tmp_path, 0, 0)


def test_tasks_share_all_messages_and_none_twice() -> None:
    draw = random.Random(3)
    for _ in range(300):
        spans = [
            (draw.randrange(2), Span("t", number, first, first + draw.choice([1, 50, 30_000, 400_000])))
            for number in range(draw.randrange(1, 6))
            for first in [draw.randrange(1000)]
        ]
        tasks = draw.randrange(1, 6)
        shares = shared_out(spans, tasks)
        assert len(shares) <= tasks and all(shares)
        found = sorted((of, span) for share in shares for of, span in share)
        for of, whole in spans:
            parts = [span for each, span in found if (each, span.partition) == (of, whole.partition)]
            assert [whole.first, *(part.end for part in parts)] == [
                *(part.first for part in parts),
                whole.end,
            ]
        loads = [sum(span.messages for _, span in share) for share in shares]
        most = max(-(-sum(loads) // tasks), 20_000)
        assert max(loads) - min(loads) <= most
