"""CREATE RECURSIVE VIEW: each waits for all that it reads, those that read each other are made at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from dbsp.sql.catalyst.order import order_of
from dbsp.sql.catalyst.plans import normalized_columns, plan
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.compiler.scope.scope import Scope, renamed
from dbsp.sql.compiler.views.recursion import check_declared, complete_components, reached, relations_in
from dbsp.sql.compiler.views.shown_order import shown_order
from dbsp.sql.plans.nodes import Distinct
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.rules import apply_rules
from dbsp.sql.text.statements.create_view import CreateRecursiveView


@dataclass
class Recursions:
    """declared: all recursive views of the program. waiting: those that wait for others, as dumped."""

    scope: Scope
    declared: dict[str, Schema] = field(default_factory=dict)
    waiting: dict[str, tuple[CreateRecursiveView, Query, Any]] = field(default_factory=dict)

    @property
    def undefined(self) -> set[str]:
        """Those that can't be read yet."""
        return self.declared.keys() - self.scope.defined.views.keys()

    def declare(self, statement: CreateRecursiveView) -> None:
        """Let the queries of all recursive views read it, those above it too."""
        self.declared[statement.name], spark = self.scope.columns_of(statement)
        self.scope.catalyst.register(statement.name, spark)

    def add(self, statement: CreateRecursiveView) -> None:
        self.scope.check_new_name(statement.name, statement.start)
        self.waiting[statement.name] = (statement, *self.scope.dumped(statement.query))
        for component in complete_components(self._reads()):
            if component[0] in self.waiting:
                self._complete(component)

    def _reads(self) -> dict[str, set[str]]:
        """Which recursive views those read that have been defined and wait."""
        undefined = self.undefined
        return {
            name: relations_in(dumped["plan"]) & undefined for name, (_, _, dumped) in self.waiting.items()
        }

    def awaited(self, name: str) -> set[str]:
        """The recursive views that must be defined before this one can be read."""
        reads = self._reads()
        return reached(name, reads) - reads.keys() if name in reads else {name}

    def _complete(self, component: tuple[str, ...]) -> None:
        """All that these views depend on is there."""
        reads = self._reads()
        recursive = frozenset(component) if reads[component[0]] & {*component} else frozenset[str]()
        made = []
        for name in component:
            statement, query, dumped = self.waiting.pop(name)
            query = replace(query, recursive=recursive)
            rows = plan(query, dumped["plan"]).plan
            check_declared(self.scope.source, name, statement.query, self.declared[name], rows)
            rows = normalized_columns(query, dumped["plan"], rows)
            columns = [column.name for column in self.declared[name]]
            optimized = apply_rules(Distinct(renamed(rows, columns)))
            location = self.scope.source.location(statement.start)
            order = order_of(query, dumped["plan"])
            made.append(
                View(
                    name,
                    self.declared[name],
                    statement.kind,
                    optimized,
                    True,
                    location,
                    component=tuple(sorted(recursive)),
                    max_iterations=statement.max_iterations,
                    order=shown_order(query, order, name, statement.kind),
                )
            )
        assumed = self.scope.defined.append_only() | dict.fromkeys(component, True)
        retracts_nothing = all(view.plan.append_only(assumed) for view in made)
        self.scope.defined.views |= {view.name: replace(view, append_only=retracts_nothing) for view in made}
