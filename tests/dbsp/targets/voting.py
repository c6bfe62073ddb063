"""A program that writes to two targets, and what its steps change."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Insert, Program
from dbsp.sql.plans.schemas import Field
from tests.dbsp.build import VOTES, table, votes_program

COUNTS = (Field("story_id", pa.int64(), False), Field("n", pa.int64(), False), Field("__step", pa.int64()))
LOGGED = (*VOTES, Field("__weight", pa.int64()))
Pair = tuple[int, int]


def voting(form: str, options: Callable[[str], Mapping[str, str]]) -> Program:
    """The counted votes are upserted into `totals`, all votes into `log` as a changelog.

    options: of each of the two.
    """
    made = votes_program()
    targets = [
        replace(table(name, schema, key), format=form, options=dict(options(name)))
        for name, schema, key in (("totals", COUNTS, ("story_id",)), ("log", LOGGED, ()))
    ]
    inserts = (
        Insert("totals", "counts", "program.sql:20:1", "upsert", (0, 1, None), (0,)),
        Insert("log", "all_votes", "program.sql:21:1", "retract", (0, 1, None)),
    )
    return replace(made, tables=made.tables | {t.name: t for t in targets}, inserts=inserts)


def only(program: Program, target: str) -> Program:
    """The program that writes no other."""
    return replace(program, inserts=tuple(each for each in program.inserts if each.target == target))


def opened(program: Program, state: Path, **options: Any) -> Pipeline:
    p = Pipeline(program, runner="inline", state=state, **options)
    p.store.durable = False
    return p


def feed(p: Pipeline) -> None:
    """A step's changes are a function of its number: some keys come, some change, some go.

    They wait already where that step was held up by steps that aren't delivered.
    """
    if not p._position.queue.is_empty:
        return
    step = p.last_step + 1
    p.insert("votes", [(user, user % (step + 1)) for user in range(6)])
    if step > 1:
        p.delete("votes", [(user, user % step) for user in range(6)])


def random_steps(p: Pipeline, table: str, steps: int = 12, least: int = 0) -> Iterator[list[Pair]]:
    """Steps that insert and delete pairs; after each the pairs that are there. least: that come."""
    draw, present = random.Random(0), list[Pair]()
    for _ in range(steps):
        gone = [present.pop(draw.randrange(len(present))) for _ in range(draw.randrange(len(present) + 1))]
        come = [(draw.randrange(4), draw.randrange(3)) for _ in range(least + draw.randrange(8))]
        p.insert(table, come)
        p.delete(table, gone)
        present += come
        p.step()
        yield present


def check_lost_steps(made: Program, root: Path, **options: Any) -> None:
    """A target that has steps which the state lost is refused, at every try; its own state goes on."""
    state, restored = root / "state", root / "restored"
    with opened(made, state, **options) as p:
        feed(p)
        p.step()
    shutil.copytree(state, restored)
    with opened(made, state, **options) as p:
        feed(p)
        p.step()
    shutil.copytree(restored, root / "killed")
    with opened(made, root / "killed", **options) as p:
        feed(p)
        dies_undelivered(p)
    cases = [(restored, 1), (restored, 2), (root / "killed", 2)]
    for place, last in cases:  # who has a step 2, too, has another than the target's
        with opened(made, place, **options) as p:
            assert p.last_step == last
            for _ in range(2):
                feed(p)
                with pytest.raises(
                    DeliveryError, match=r"step 2 was not written: it is ahead .* from step 1, "
                ):
                    p.step()
    with opened(made, state, **options) as p:
        feed(p)
        p.step()


def dies_undelivered(p: Pipeline) -> None:
    """Make a step, and end between its commit and what the targets get of it."""
    sinks, last = p._sinks, p.last_step
    assert sinks is not None
    catch_up = sinks.catch_up

    def dying(may_lag: int = 0) -> None:
        if p.last_step > last:
            raise KeyboardInterrupt
        catch_up(may_lag)

    sinks.catch_up = dying  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        p.step()


def write_again(p: Pipeline) -> None:
    """All steps, as where the note of what was delivered is lost."""
    sinks = p._sinks
    assert sinks is not None
    for name, delivery in sinks._delivered.items():
        sinks._delivered[name] = replace(delivery, step=0)
    sinks.catch_up()
