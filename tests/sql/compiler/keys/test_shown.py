"""Views with their keys behind them, and who reads what they select."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.compiler.keys.shown import with_keys_shown
from dbsp.sql.plans.nodes import Project, Scan
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Insert, Triggers, View
from dbsp.sql.plans.schemas import Field

INT = pa.int64()
A, B = Field("a", INT), Field("b", INT)
T = Scan("t", (A, B))
SELECTED = Project(T, (Column(1, INT),), (B,))


def view(name: str, plan: Plan, kind: str = "view") -> View:
    return View(name, plan.schema, kind, plan, False, "p.sql:1:1")


V = view("v", SELECTED)
READER = view("r", Project(Scan("v", (B,)), (Column(0, INT),), (B,)))
KEYS = {"t": (0,), "v": None, "r": None, "l": None}


def test_a_key_is_shown_and_readers_get_what_is_selected() -> None:
    views = {"v": V, "r": READER}
    written = {"v": V.plan, "r": READER.plan}
    shown, _ = with_keys_shown(views, [], written, KEYS)
    assert [*shown] == ["v as selected", "v", "r as selected", "r"]
    assert [column.name for column in shown["v"].schema] == ["b", "__key_a"]
    assert [column.name for column in shown["r"].schema] == ["b", "__key_a"]
    assert shown["v"].plan.stream_key(KEYS) == (1,)
    assert (shown["v as selected"].plan, shown["v as selected"].kind) == (SELECTED, "local")
    assert shown["r as selected"].plan.scanned() == {"v as selected"}
    assert [one.name for one in shown.values()] == [*shown]


def test_what_is_inserted_is_what_is_selected() -> None:
    insert = Insert("out", "v", "p.sql:2:1", "retract", (0, None))
    shown, (written,) = with_keys_shown({"v": V}, [insert], {"v": V.plan}, KEYS)
    assert written == replace(insert, view="insert into out: v")
    assert (shown[written.view].schema, shown[written.view].kind) == ((B,), "view")
    assert len(shown["v"].schema) == 2


def test_what_has_a_key_or_none_stays() -> None:
    waits = replace(V, emission=Triggers(3, None, False, "p.sql:1:1"))
    for one in (waits, replace(V, kind="local")):
        assert with_keys_shown({"v": one}, [], {"v": one.plan}, KEYS)[0] == {"v": one}
    assert with_keys_shown({"v": V}, [], {}, KEYS)[0] == {"v": V}, "leaves late rows out"
    assert with_keys_shown({"v": V}, [], {"v": V.plan}, {**KEYS, "t": None})[0] == {"v": V}
    assert with_keys_shown({"v": V}, [], {"v": V.plan}, {**KEYS, "v": (0,)})[0] == {"v": V}
