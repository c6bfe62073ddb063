"""A program against Spark SQL: after every step each view is its query over what the tables hold.

    assert_equals_spark("orders.sql")                            # twenty random steps, always the same
    assert_equals_spark("orders.sql", "deltas.sql")              # those of a replay file

A difference is shrunk to the fewest rows and steps that show it, which are printed as a replay file.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.errors import DataError, Error, EvaluationError
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.commands.replays.files import clock_of, queue, read_file
from dbsp.commands.replays.steps import StepOfFile
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.udf import Function
from dbsp.sql.plans.program import Program
from dbsp.testing.bags import Row, arrow_values, unpaired
from dbsp.testing.contents import Contents, Late
from dbsp.testing.deltas import Deltas, Item, items_of, random_deltas, steps_of
from dbsp.testing.evaluated import evaluated
from dbsp.testing.programs import ProgramLike, in_process, load, read_text
from dbsp.testing.shrinking import Shrinking
from dbsp.testing.written import replay_text
from dbsp.views.changes import Changes

if TYPE_CHECKING:
    from dbsp.testing.spark.recomputed import Recomputed

# of a view, how many rows of a difference are told
_SHOWN = 10


class NotCompared(UserWarning):
    """A view that Spark SQL can't compute from the tables."""


@dataclass(frozen=True)
class Difference:
    """step: from 1. missing, surplus: rows that only Spark, only the pipeline has. problem: or instead."""

    step: int
    view: str
    columns: tuple[str, ...]
    missing: Sequence[Row] = ()
    surplus: Sequence[Row] = ()
    problem: str = ""

    def __str__(self) -> str:
        if self.problem:
            return f"  {self.problem}\n"
        return self._listed("Spark has, dbsp hasn't", self.missing) + self._listed(
            "dbsp has, Spark hasn't", self.surplus
        )

    def _listed(self, what: str, rows: Sequence[Row]) -> str:
        shown = [
            f"    {', '.join(f'{name}={value!r}' for name, value in zip(self.columns, row, strict=True))}\n"
            for row in sorted(rows, key=repr)[:_SHOWN]
        ]
        more = f"    ... and {len(rows) - _SHOWN} more\n" if len(rows) > _SHOWN else ""
        return f"  {what}:\n" + "".join(shown) + more if rows else ""


def assert_equals_spark(
    program: ProgramLike,
    deltas: str | Path | Deltas | None = None,
    *,
    steps: int = 20,
    seed: int = 0,
    most: int = 4,
    views: Collection[str] | None = None,
    define: Mapping[str, str] | None = None,
    functions: Sequence[Function] = (),
    partitions: int | None = None,
) -> None:
    """After every step each view holds what Spark SQL computes of its query over the tables.

    Examples:
        >>> program = "CREATE TABLE t (x INT);\\nCREATE VIEW v AS SELECT DISTINCT x FROM t;"
        >>> assert_equals_spark(program, steps=3)

    deltas: a replay file, or steps, whose UPDATE and its kin are those of a pipeline; None: as many random
    ones as `steps`, of up to `most` changes of a table, by the seed. views: those that are compared; None:
    all that can be, and a NotCompared warning tells of each that can't. A step that fails where Spark's
    queries do is left out. Raises Error where the program or the deltas are wrong, or where there is no view
    to compare.
    """
    __tracebackhide__ = True
    from dbsp.running.spark.session import session  # noqa: PLC0415  a program in the cache needs none before
    from dbsp.testing.spark.recomputed import Recomputed  # noqa: PLC0415

    compiled = load(program, define, functions)
    oracle = Recomputed(compiled, session("dbsp tests"))
    wanted = _wanted(compiled, oracle, views)
    given = deltas if isinstance(deltas, list) else None
    if isinstance(deltas, str | Path):
        given = list(read_file(read_text(deltas), str(deltas), compiled))
    if given is not None and any(step.statements for step in given):
        with in_process(compiled, partitions) as pipeline:
            given = evaluated(pipeline, given)
    drawn = given if given is not None else random_deltas(compiled, steps, seed, most)
    comparison = Comparison(compiled, oracle, partitions)
    found = comparison.difference(drawn, wanted, legalized=given is None)
    if found is not None:
        fewest, least = comparison.shrunk(drawn[: found.step], found)
        raise AssertionError(_told(compiled, drawn, found, fewest, least))


@dataclass(frozen=True)
class Comparison:
    """A program and its oracle."""

    program: Program
    oracle: Recomputed
    partitions: int | None = None

    def difference(
        self, deltas: Deltas, views: Collection[str], legalized: bool, last_only: bool = False
    ) -> Difference | None:
        """The first one. legalized: retractions of what isn't there are left out. last_only: compared after
        the last step only.
        """
        contents = Contents(self.program)
        with in_process(self.program, self.partitions) as pipeline:
            for number, given in enumerate(deltas, 1):
                step = contents.legal(given) if legalized else given
                clock = clock_of(pipeline, step)
                queue(pipeline, step)
                try:
                    changes = pipeline.step(clock=clock)
                except EvaluationError as error:
                    pipeline.discard()
                    problem = self._unfounded(error, contents, step, clock, views)
                    if problem is not None:
                        return Difference(number, problem[0], (), problem=problem[1])
                    continue
                except DataError:
                    if not legalized:
                        raise
                    pipeline.discard()  # random rows may break what the program promises of its tables
                    continue
                contents.apply(step, clock, _late(changes))
                if not last_only or number == len(deltas):
                    found = self._first(pipeline, contents, number, clock, views)
                    if found is not None:
                        return found
        return None

    def shrunk(self, deltas: Deltas, found: Difference) -> tuple[Deltas, Difference]:
        """The fewest steps, of the fewest changes, after which the view still differs; and how."""
        best = deltas, found

        def fails(steps: list[list[Item]]) -> bool:
            nonlocal best
            fewer = steps_of(steps)
            try:
                still = self.difference(fewer, [found.view], legalized=True, last_only=True)
            except DataError:
                return False  # not this difference
            if still is not None:
                best = fewer, still
            return still is not None

        Shrinking(fails).shrink(items_of(deltas))
        return best

    def _first(
        self,
        pipeline: Pipeline,
        contents: Contents,
        number: int,
        clock: datetime | None,
        views: Collection[str],
    ) -> Difference | None:
        for view, theirs in self.oracle.rows(contents.all_rows(), views, clock).items():
            if isinstance(theirs, Exception):
                continue  # where Spark fails nothing is promised: it may do so by rows that cancel
            mine = pipeline[view].to_arrow()
            missing, surplus = unpaired(arrow_values(mine), arrow_values(theirs))
            if missing or surplus:
                return Difference(number, view, tuple(mine.column_names), missing, surplus)
        return None

    def _unfounded(
        self,
        error: EvaluationError,
        contents: Contents,
        step: StepOfFile,
        clock: datetime | None,
        views: Collection[str],
    ) -> tuple[str, str] | None:
        """(view, what is wrong) of a step that failed though Spark computes every view after it."""
        after = contents.copy()
        after.apply(step, clock)
        found = self.oracle.rows(after.all_rows(), self.oracle.views, clock)
        if self.oracle.left_out or any(isinstance(rows, Exception) for rows in found.values()):
            return None  # or one that isn't compared fails
        return next(iter(views)), f"the step fails, Spark's queries don't: {error}"


def _wanted(program: Program, oracle: Recomputed, views: Collection[str] | None) -> list[str]:
    if views is not None:
        known = {name.lower(): name for name in oracle.views}
        for view in views:
            if view.lower() not in known:
                left_out = {name.lower(): reason for name, reason in oracle.left_out.items()}
                why = left_out.get(view.lower(), f"views: {', '.join(oracle.views) or 'none'}")
                raise Error(f"{program.name}: view '{view}' can't be compared with Spark SQL: {why}")
        return [known[view.lower()] for view in views]
    for view, reason in oracle.left_out.items():
        said = f"{program.name}: view '{view}' isn't compared with Spark SQL: {reason}"
        warnings.warn(said, NotCompared, stacklevel=3)
    if not oracle.views:
        reasons = "; ".join(f"{view}: {reason}" for view, reason in oracle.left_out.items())
        raise Error(f"{program.name}: no view can be compared with Spark SQL: {reasons or 'there is none'}")
    return oracle.views


def _late(changes: Changes) -> Late:
    """The rows that the step left out."""
    late: dict[str, Counter[str]] = {}
    if LATE_ROWS in changes:
        for row, weight in changes[LATE_ROWS].rows():
            late.setdefault(row["relation"], Counter())[row["row"]] += weight
    return late


def _told(program: Program, deltas: Deltas, found: Difference, fewest: Deltas, least: Difference) -> str:
    return (
        f"{program.name}: view '{found.view}' isn't what Spark SQL computes, after step {found.step}\n"
        f"after {_counted(fewest)}, shrunk from {_counted(deltas[: found.step])}:\n"
        f"{least}"
        "a replay file that shows it, for `assert_equals_spark(program, deltas=...)` and `dbsp step`:\n"
        f"{replay_text(program, fewest)}"
    )


def _counted(deltas: Deltas) -> str:
    changes = sum(len(changes) for step in deltas for changes in step.changes.values())
    steps = f"{len(deltas)} step{'s' * (len(deltas) != 1)}"
    return f"{steps} of {changes} change{'s' * (changes != 1)}"
