"""State directories as releases have written them, for later ones to go on with.

python -m tests.dbsp.state.released NAME     writes releases/NAME, at each release and format of the state
"""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.program import Program
from tests.dbsp.build import votes_program
from tests.laws.small_steps import set_small

RELEASES = Path(__file__).with_name("releases")
CLOCK = datetime(2024, 2, 29, 10, tzinfo=UTC)


def program() -> Program:
    """A bag, a keyed and an append-only table, and votes counted by story; known by its real fingerprint."""
    made = votes_program()
    known = fingerprint(made.timezone, made.tables, made.views, made.inserts)
    return replace(made, fingerprint=known)


def opened(state: Path) -> Pipeline:
    return Pipeline(program(), runner="inline", state=state)


def first_steps(p: Pipeline) -> None:
    """What every directory holds: steps that insert, count up, replace, retract and absorb small runs."""
    p.insert("votes", [(1, 1), (2, 1), (3, 2), (4, None)])
    p.insert("customer", [{"id": 7, "name": "ä", "joined": CLOCK}, {"id": 8, "name": None, "joined": None}])
    p.step(CLOCK)
    p.insert("votes", [(5, 1)])
    p.delete("votes", [(3, 2)])
    p.upsert("customer", [{"id": 7, "name": "b", "joined": CLOCK}])
    p.insert("event", [{"id": 1, "amount": Decimal("12.50")}])
    p.step(CLOCK)


if __name__ == "__main__":
    with opened(RELEASES / sys.argv[1]) as pipeline:
        set_small(pipeline, 0)  # its chunks are written as those of many rows are
        first_steps(pipeline)
    (RELEASES / sys.argv[1] / "lock").unlink()
