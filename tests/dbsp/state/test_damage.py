"""Damage of any kind to any file of a state directory: right answers, or an error that names the file."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.checkpoints.checkpoint import Checkpoint
from dbsp.state.records.delivered import Delivery, check_delivered, read_delivered, write_delivered
from dbsp.state.store import Store
from tests.dbsp.build import pipeline
from tests.effort import QUICK

STEPS = 4
RETAIN = 2
VIEWS = ("all_votes", "counts", "customers", "events")
# flips a kind of file, all bits of a directory being about a million
FLIPS = {
    "segments": 240,
    "commits": 80,
    "checkpoint": 48,
    "program.json": 20,
    "delivered.json": 14,
    "keep.json": 8,
    "lock": 4,
}
MORE = max(1, settings.default.max_examples // QUICK)
# a source's log and a query's, as Spark writes them
CHECKPOINT = {
    "metadata": '{{"id":"5d2b6d6e-6d0d-4f39-a3a0-5c4a6f5c9d7e"}}',
    "offsets/{0}": 'v1\n{{"batchWatermarkMs":0,"batchTimestampMs":17,"conf":{{}}}}\n{{"logOffset":{0}}}',
    "sources/0/{0}": 'v1\n{{"path":"file:///in/sales/{0}.csv","timestamp":1700000012000,"batchId":{0}}}',
    "commits/{0}": 'v1\n{{"nextBatchWatermarkMs":0}}',
}


@dataclass(frozen=True)
class Whole:
    """A directory and what is to be read from it."""

    root: Path
    answers: dict[str, bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    root = tmp_path_factory.mktemp("damage") / "s"
    with pipeline(root, keep_steps=RETAIN) as p:
        for step in range(1, STEPS + 1):
            feed(p, step)
            batch = step - 1
            for name, content in CHECKPOINT.items():
                path = root / "checkpoint" / name.format(batch)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content.format(batch))
            (root / "checkpoint" / "offsets" / f".{batch}.crc").write_bytes(b"crc\0" + bytes(8))
            checkpoint = Checkpoint(root / "checkpoint")
            p.step(stream=checkpoint.stream, batch=batch, offsets=checkpoint.record(durable=False))
            write_delivered(root, {"totals": Delivery(step, "/out/totals"), "topic": Delivery(step)}, True)
    return Whole(root, read(copied(root, root.parent / "first")))


def feed(p: Pipeline, step: int) -> None:
    """Of each size that is stored in another way."""
    rows = 2500 if step == 1 else 40
    p.insert("votes", [(user * step, user % 7) for user in range(rows)])
    if step > 1:
        p.delete("votes", [(user, user % 7) for user in range(rows)][step::5])
    p.upsert("customer", [{"id": id % (9 * step), "name": f"name {id * step}"} for id in range(rows // 10)])
    p.insert("event", [(step, None), (step + 1, Decimal("1.25"))])


def read(root: Path, verify: str = "first read") -> dict[str, bytes]:
    """Everything that a state directory answers: as a run, as a reader of the past, and in a step more."""
    answers: dict[str, Any] = {}
    with pipeline(root, keep_steps=RETAIN, verify=verify) as p:
        check_delivered(root, read_delivered(root), p.last_step)
        Checkpoint(root / "checkpoint").settle(p.store.last)
        for step in range(STEPS - RETAIN + 1, STEPS + 1):
            for view in VIEWS:
                answers[f"{view} of {step}"] = p.view(view, as_of=step).zset
                answers[f"changes of {view} in {step}"] = p.changes_of(view, step).zset
        feed(p, STEPS + 1)
        answers |= {f"{view} after a step": changes.zset for view, changes in p.step().items()}
        answers |= {f"{view} in the end": p[view].zset for view in VIEWS}
    return {what: zset.to_batch().serialize().to_pybytes() for what, zset in answers.items()}


def copied(root: Path, to: Path) -> Path:
    """What is never written to again as links, into directories that are there from the time before."""
    for directory, _, names in os.walk(to):
        for name in names:
            os.unlink(os.path.join(directory, name))
    for directory, _, names in os.walk(root):
        there = os.path.join(to, os.path.relpath(directory, root))
        os.makedirs(there, exist_ok=True)
        copy = os.link if directory.endswith("segments") else shutil.copyfile
        for name in names:
            copy(os.path.join(directory, name), os.path.join(there, name))
    return to


def files(root: Path) -> dict[str, list[Path]]:
    """By kind."""
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*")):
        if path.is_file():
            found.setdefault(path.relative_to(root).parts[0], []).append(path.relative_to(root))
    return found


def flips(root: Path) -> Iterator[tuple[Path, int, int]]:
    """(file, byte, bit): of each kind of file its number, every file in turn; half of them near its head."""
    choices = random.Random(9)
    for kind, paths in files(root).items():
        for i in range(FLIPS[kind] * MORE):
            path = paths[i % len(paths)]
            size = (root / path).stat().st_size
            yield (
                path,
                choices.randrange(min(size, 600) if i // len(paths) % 2 else size),
                choices.randrange(8),
            )


def replace(path: Path, content: bytes) -> None:
    """Another file under the same name: the old one may have other names."""
    path.unlink()
    path.write_bytes(content)


@contextmanager
def seconds(most: int) -> Iterator[None]:
    def late(*_: object) -> None:
        raise AssertionError(f"no end within {most} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(most)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(whole: Whole, root: Path, names: tuple[object, ...], verify: str = "first read") -> str:
    """'right', 'named', or what is wrong."""
    try:
        with seconds(30):
            answers = read(root, verify)
    except StateError as error:
        line = str(error)
        return "named" if any(str(name) in line for name in names) and "; " in line else f"unnamed: {line}"
    wrong = [what for what, rows in whole.answers.items() if answers.get(what) != rows]
    return f"silently wrong: {', '.join(wrong)}" if wrong else "right"


@pytest.mark.slow
def test_no_flipped_bit_is_silent(whole: Whole) -> None:
    work, found = whole.root.parent / "flipped", Counter[tuple[str, str]]()
    for path, byte, bit in flips(whole.root):
        copied(whole.root, work)
        content = bytearray((work / path).read_bytes())
        content[byte] ^= 1 << bit
        replace(work / path, content)
        said = outcome(whole, work, (work / path,))
        assert said in ("named", "right"), f"{path}, bit {bit} of byte {byte}: {said}"
        found["last" if path.name == "last" else path.parts[0], said] += 1
    assert found.total() == MORE * sum(FLIPS.values())
    # a flip can't hurt bytes between chunks, Spark's checksums and list of batches, or who holds the lock
    for kind in ("segments", "checkpoint"):
        assert found[kind, "named"] and found[kind, "right"]
    for kind in ("commits", "program.json", "delivered.json", "keep.json"):
        assert found[kind, "named"] and not found[kind, "right"]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["truncated", "emptied", "zeroed", "deleted"])
def test_no_damaged_file_is_silent(whole: Whole, damage: str) -> None:
    work = whole.root.parent / damage
    record = Path("commits", f"{STEPS:012d}.json")
    harmless = {*unread(whole.root), Path("lock")}
    if damage == "deleted":  # the newest record has two names
        harmless |= {Path("program.json"), Path("delivered.json"), Path("keep.json"), record}
    for paths in files(whole.root).values():
        for path in paths:
            copied(whole.root, work)
            content = (work / path).read_bytes()
            if damage == "deleted":
                (work / path).unlink()
            else:
                kept = {
                    "truncated": content[: len(content) // 2],
                    "emptied": b"",
                    "zeroed": bytes(len(content)),
                }
                replace(work / path, kept[damage])
            # the oldest record might have been forgotten
            said = outcome(whole, work, (work / path, f"{work}: step {STEPS - RETAIN + 1} is not kept"))
            assert said == ("right" if path in harmless else "named"), f"{path}: {said}"


def unread(root: Path) -> set[Path]:
    """Files that a start doesn't need: the last commit vouches for no such file of the checkpoint."""
    last = STEPS - 1
    needed = {"metadata", f"offsets/{last}", f"offsets/{last - 1}", *(f"sources/0/{n}" for n in range(STEPS))}
    spark = {path for path in files(root)["checkpoint"] if str(path.relative_to("checkpoint")) not in needed}
    store, _ = Store.read(root)
    kept = {name for step in store.steps for name in store.commit_of(step).segments}
    forgotten = {path for path in files(root)["segments"] if path.name not in kept}
    return {*spark, *forgotten, Path("commits", "last")}


@pytest.mark.slow
def test_without_verification_flips_are_silent(whole: Whole) -> None:
    """So the law above sees what it is for. Only of numbers: a length that is wrong can end the process."""
    with pipeline(copied(whole.root, whole.root.parent / "looked at"), keep_steps=RETAIN) as p:
        spine = p._position.state.spines[p.program.circuit.output("counts").kept]
    chunk = spine.runs[0].chunks[0]
    work, found = whole.root.parent / "never", Counter[str]()
    for back in range(1, 8 * chunk.rows, 8):
        copied(whole.root, work)
        path = work / "segments" / chunk.segment
        content = bytearray(path.read_bytes())
        content[chunk.offset + chunk.length - back] ^= 1
        replace(path, content)
        assert outcome(whole, work, (path,)) == "named"
        assert outcome(whole, work, (path,), "open") == "named"
        found[outcome(whole, work, (path,), "never").split(":")[0]] += 1
    assert found["silently wrong"]
