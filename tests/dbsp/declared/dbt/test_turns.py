from __future__ import annotations

import random

from dbsp.declared.dbt.turns import KEPT, Node, Turns

#   source ─► a ─► t (table) ─► b        seed ─► c ─► v (view) ─► d
NODES = {
    "source": Node(None),
    "seed": Node("seed"),
    "a": Node(KEPT, ("source",)),
    "t": Node("table", ("a",)),
    "b": Node(KEPT, ("t", "a")),
    "c": Node(KEPT, ("seed",)),
    "v": Node("view", ("c",)),
    "d": Node(KEPT, ("v", "source")),
}


def test_one_step_for_as_many_as_can_be():
    turns = Turns(NODES, frozenset(NODES))
    assert turns.come("a") == {"a"}
    assert turns.come("c") == {"a", "c", "d"}
    assert turns.come("b") == {"a", "b", "c", "d"}


def test_what_is_not_selected_holds_nobody_up():
    turns = Turns(NODES, frozenset({"a", "b", "d"}))
    assert turns.come("a") == {"a", "b", "d"}
    assert Turns(NODES, frozenset({"b", "t"})).come("b") == {"b"}


def test_above():
    turns = Turns(NODES, frozenset(NODES))
    assert turns.above("c") == {"c", "v", "d"}
    assert turns.above("a") == {"a", "t", "b"}


def test_nobody_is_ready_before_what_it_reads():
    """The law: whoever is ready has no selected table above it that dbt hasn't finished."""
    drawn = random.Random(7)
    for _ in range(300):
        names = [f"n{i}" for i in range(9)]
        nodes = {
            name: Node(
                drawn.choice([KEPT, KEPT, "table", "view", "ephemeral", "seed"]),
                tuple(drawn.sample(names[:i], min(i, drawn.randrange(3)))),
            )
            for i, name in enumerate(names)
        }
        selected = frozenset(drawn.sample(names, drawn.randrange(1, 10)))
        turns, finished = Turns(nodes, selected), set()
        waiting = [name for name in names if name in selected]
        while waiting:
            free = [name for name in waiting if not above(nodes, name) & set(waiting)]
            name = drawn.choice(free)
            if nodes[name].materialized == KEPT:
                ready = turns.come(name)
                assert name in ready
                assert ready <= selected
                for one in ready:
                    written = {each for each in above(nodes, one) if nodes[each].is_built}
                    assert written & selected <= finished, (nodes, one)
            waiting.remove(name)
            finished.add(name)


def above(nodes, name):
    """All that it reads, through any."""
    found = set(nodes[name].reads)
    return found.union(*(above(nodes, each) for each in found))
