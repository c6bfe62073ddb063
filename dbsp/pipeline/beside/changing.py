"""A program is changed while its steps go on: what is new is computed beside them, and appears at a commit.

    fill as of step n, in pieces;  follow to m₁, m₂, …, each what the steps of the round before have changed;
    and then, while nobody makes a step, follow to the last one and commit (`Becoming`)

A round is shorter than the one before wherever steps take less time than it takes to follow them. What is
computed is referred to by nothing before the commit: whatever ends it, the state is the old program's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dbsp.circuits.errors import StateError
from dbsp.errors import DeliveryError
from dbsp.evolution.backfill import Abandoned, Backfill, Say
from dbsp.evolution.becoming import Becoming
from dbsp.evolution.change import Change
from dbsp.evolution.evolve import ReadAgain, change_of, fill_whole, plan_of, refusal
from dbsp.evolution.given import PIECE
from dbsp.evolution.plan import FILLED
from dbsp.running.runner import Runner
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.state.claim import owner
from dbsp.state.records.places import place_of
from dbsp.state.store import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# after so many rounds the steps wait, however much they have changed
_ROUNDS = 8
# seconds between two looks at what keeps a change that is ready from being made
_AGAIN = 1.0


def program_before(
    program: Program,
    state: str | Path,
    define: Mapping[str, str] | None = None,
    session: SparkSession | None = None,
    from_source: bool = False,
) -> Program | None:
    """The program that a state is of, to go on with while it is changed into another; None: it is that one's,
    or nobody's, or can't be changed.

    Raises StateError and ProgramError where the old program can't be compiled as it was.
    """
    root = place_of(state)
    identity = owner(root) if (root / "commits").is_dir() else None
    if identity is None:
        return None
    plan = plan_of(program, state, from_source)
    if plan.is_same or plan.refused:
        return None
    if identity.functions:
        raise StateError(f"{root}: functions of '{identity.name}' aren't in its text")
    before = load_program(identity.text, identity.name, define=define, session=session)
    if before.fingerprint != identity.fingerprint:
        raise StateError(f"{root}: '{identity.name}' means something else now than when the state was made")
    return before


class Going(Protocol):
    """A pipeline whose steps go on, each while its maker holds `turn`."""

    partitions: int | None

    @property
    def store(self) -> Store: ...
    @property
    def turn(self) -> AbstractContextManager[object]: ...
    def deliver(self) -> None: ...


class Changing:
    """Of a pipeline into another program. `fill`, beside its steps; then `commit`, instead of one.

    say: told what will be done, and how far it is. ready: whether `fill` has ended. read_again: see `evolve`.
    trouble: what keeps it from being made, for now. progressed: called when any of that is another.
    Raises StateError for what can't be done.
    """

    def __init__(
        self,
        old: Going,
        program: Program,
        runner: Runner,
        say: Say,
        read_again: ReadAgain | None = None,
    ) -> None:
        self.ready = threading.Event()
        self.trouble = ""
        self.progressed: Callable[[], None] = lambda: None
        self._old, self._program, self._read_again = old, program, read_again
        self._ending = threading.Event()
        self._told = say
        with old.turn:
            self._delivered()
            change = self._change()
            for line in change.plan.lines():
                say(line)
            if change.plan.refused:
                raise refusal(old.store.root, change)
            self._hold(change.last.step)
            partitions = old.partitions or runner.partitions
            store = old.store
            self.made = Backfill(
                change, store.segments, runner, partitions, store.durable, self._say, self._ending.is_set
            )

    def _say(self, line: str) -> None:
        self._told(line)
        self.progressed()

    @property
    def waits(self) -> str:
        """Why no step is made while it is filled, and views can only be read; '': steps go on."""
        if self.made.can_follow:
            return ""
        read = ", ".join(f"'{table}'" for table in self.made.fill.again)
        why = (
            f"the source of table {read} is read again"
            if read
            else "sums are taken over, which are of one step"
        )
        return f"the program is being changed, and {why}"

    @property
    def views(self) -> list[str]:
        """Those that will appear, or be others."""
        return self.made.change.plan.of(FILLED)

    @property
    def rows(self) -> int:
        """How many were read for them so far, and"""
        return self.made.rows

    @property
    def total(self) -> int:
        """of how many, as far as is known."""
        return self.made.total

    def fill(self) -> None:
        """In a thread of its own. When it raises, what it has written is gone."""
        fill_whole(self.made, self._old.store, self._read_again)
        try:
            for _ in range(_ROUNDS):
                if self._follow() <= PIECE:
                    break
            while why := self._why_not():
                if why != self.trouble:
                    self.trouble = why
                    self._say(f"{why}; tried again until it is done")
                if self._ending.wait(_AGAIN):
                    raise Abandoned(why)
                self._follow()
        except BaseException:
            self.discard()
            raise
        self.trouble = ""
        self.ready.set()

    def end(self) -> None:
        """Give it up: `fill` raises Abandoned."""
        self._ending.set()

    def discard(self) -> None:
        """Of what `fill` has made, nothing is left."""
        self._old.store.discard_attempt(self.made.name)

    def commit(self) -> None:
        """While nobody makes a step, nor reads a view. The old pipeline can only be closed then."""
        with self._old.turn:
            store = self._old.store
            try:
                self._delivered()
                change = self._change()
                if change.plan.refused:
                    raise refusal(store.root, change)
                self.made.follow(change.last)
            except BaseException:
                self.discard()
                raise
            self._hold()
            Becoming(change, self.made, store).commit()

    def _follow(self) -> int:
        """To the step that is the last one now; how many rows were read for it."""
        with self._old.turn:
            last = self._old.store.last
            assert last is not None
            self._old.store.past.held |= {last.step}
        rows = self.made.behind(last)
        self.made.follow(last)
        self._hold(last.step)
        return rows

    def _hold(self, *steps: int) -> None:
        """Keep what is read of them."""
        self._old.store.past.held = frozenset(steps)

    def _change(self) -> Change:
        store = self._old.store
        before = owner(store.root)
        assert before is not None
        return change_of(self._program, before, store, self._read_again is not None)

    def _why_not(self) -> str:
        """What keeps it from being made now."""
        with self._old.turn:
            self._delivered()
            refused = self._change().plan.refused
        return refused[0] if refused else ""

    def _delivered(self) -> None:
        with suppress(DeliveryError):  # whether that matters the plan says
            self._old.deliver()


def in_thread(changing: Changing, ended: Callable[[], None]) -> tuple[threading.Thread, list[BaseException]]:
    """`fill`, begun in a thread; what it raises will be in the list. ended: called when it has."""
    failed: list[BaseException] = []

    def fill() -> None:
        try:
            changing.fill()
        except BaseException as error:  # raised again by who waits for it
            failed.append(error)
        finally:
            ended()

    thread = threading.Thread(target=fill, name="dbsp-backfill", daemon=True)
    thread.start()
    return thread, failed
