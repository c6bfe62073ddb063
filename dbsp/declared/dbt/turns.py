"""Which models of a run of dbt are brought up to date at the turn of one of them.

dbt runs a model once all that it reads are done. All models of `incremental_view` are one program, which
makes one step for as many of them as can be:

    built(m)  = what m is made of, through any, that dbt writes by itself: tables, seeds, snapshots
    ready     = { m selected | built(m) ∩ selected ⊆ ⋃ built(t) over the turns t that have come }

So a run has as many steps as there are tables between incremental views, and one, where there are none. Views
and ephemeral models are no step: they are part of the queries that read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

KEPT = "incremental_view"
# of which nothing is written
_INLINED = ("view", "ephemeral")


@dataclass(frozen=True)
class Node:
    """Of dbt's graph. materialized: None of what is no model. reads: the nodes right below, and sources."""

    materialized: str | None
    reads: tuple[str, ...] = ()

    @property
    def is_built(self) -> bool:
        """Whether dbt writes it by itself."""
        return self.materialized is not None and self.materialized not in (KEPT, *_INLINED)


@dataclass
class Turns:
    """Of one run. nodes: dbt's graph, which has no circle. selected: what the run is of."""

    nodes: Mapping[str, Node]
    selected: frozenset[str]
    _done: set[str] = field(default_factory=set)
    _built: dict[str, frozenset[str]] = field(default_factory=dict)

    @property
    def kept(self) -> tuple[str, ...]:
        """All models of the graph that are kept, selected or not."""
        return tuple(name for name, node in self.nodes.items() if node.materialized == KEPT)

    def come(self, model: str) -> frozenset[str]:
        """At its turn: what can be brought up to date, itself among them."""
        self._done |= self.built(model)
        return frozenset(
            name
            for name in self.kept
            if name in self.selected and self.built(name) & self.selected <= self._done
        )

    def built(self, name: str) -> frozenset[str]:
        """What it is made of, through any, that dbt writes by itself."""
        if name not in self._built:
            below = [each for each in self.nodes[name].reads if each in self.nodes]
            found = {each for each in below if self.nodes[each].is_built}
            self._built[name] = frozenset(found).union(*map(self.built, below))
        return self._built[name]

    def above(self, model: str) -> frozenset[str]:
        """Itself, and all that are made of it, through any."""
        found = {model}
        while True:
            more = {name for name, node in self.nodes.items() if found & set(node.reads)} - found
            if not more:
                return frozenset(found)
            found |= more
