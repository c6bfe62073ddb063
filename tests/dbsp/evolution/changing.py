"""A program and its state, and other programs that go on with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.evolution.change import Change
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.calls import AggregateCall
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.nodes import Aggregate, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, Table, View
from dbsp.sql.plans.schemas import Field
from dbsp.state.store import Store
from tests.dbsp.build import VOTES, view, votes_program


def known(program: Program) -> Program:
    """Under its real fingerprint."""
    return replace(
        program, fingerprint=fingerprint(program.timezone, program.tables, program.views, program.inserts)
    )


OLD = known(votes_program())


def with_(tables: dict[str, Table] | None = None, **views: View | None) -> Program:
    """The program with other tables, and with views added, replaced or (None) removed."""
    named = {**OLD.tables, **(tables or {})}
    shown = {name: one for name, one in {**OLD.views, **views}.items() if one is not None}
    return known(replace(OLD, tables=named, views=shown, circuit=lower(named, shown)))


def counted(column: int, name: str, votes: Plan | None = None) -> Plan:
    votes = votes or Scan("votes", VOTES)
    call = AggregateCall("count", (), pa.int64(), False)
    schema = (Field(name, pa.int64()), Field("n", pa.int64(), False))
    return Aggregate(votes, (Column(column, pa.int64()),), (call,), schema)


BY_USER = view("by_user", counted(0, "user_id"))


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != "lock"
    }


def change(state: Path, program: Program) -> Change:
    store, before = Store.read(state)
    assert store.last is not None
    return Change(program, before, store.last)
