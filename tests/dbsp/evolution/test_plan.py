"""A plan in words: what becomes of each table, view and sink, and what it costs or why it can't be."""

from __future__ import annotations

from dbsp.evolution.plan import DROPPED, FILLED, KEPT, NEW, Item, Plan

ITEMS = (
    Item("table", "t", KEPT, "with a, b"),
    Item("table", "u", NEW),
    Item("view", "v", KEPT),
    Item("view", "w", FILLED, "it is computed otherwise"),
    Item("sink", "v", DROPPED),
)


def test_a_line_each_and_the_sum_at_the_end() -> None:
    plan = Plan(4, ITEMS, rows=10, kept=2, filled=3, dropped=1)
    assert str(plan).splitlines() == plan.lines() == [
        "kept         table t: with a, b",
        "new          table u",
        "kept         view v",
        "back-filled  view w: it is computed otherwise",
        "dropped      sink v",
        "2 traces kept, 3 back-filled from 10 rows, 1 dropped",
    ]  # fmt: skip
    assert Plan(4, kept=2).summary() == "2 traces kept, 0 back-filled, 0 dropped"


def test_names_by_what_becomes_of_them() -> None:
    plan = Plan(4, ITEMS)
    assert (plan.of(KEPT), plan.of(KEPT, "table"), plan.of(DROPPED)) == (["v"], ["t"], [])
    assert plan.of(DROPPED, "sink") == ["v"]


def test_what_can_t_be_done_is_the_summary() -> None:
    plan = Plan(4, ITEMS[:1], refused=("no key", "no type"))
    assert plan.summary() == "no key"
    assert plan.lines()[-2:] == ["refused: no key", "refused: no type"]
    assert Plan(7, is_same=True).lines() == ["step 7: this program's state; nothing changes"]
