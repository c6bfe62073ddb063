"""Views: what Catalyst makes of a query, under the view's names, rewritten, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dbsp.circuits.errors import did_you_mean
from dbsp.circuits.expressions.nodes import Column
from dbsp.sql.catalyst.arrival.arrived import numbered_by_arrival
from dbsp.sql.catalyst.order import order_of
from dbsp.sql.catalyst.plans import plan
from dbsp.sql.catalyst.reading.query import Query
from dbsp.sql.catalyst.widened import widened
from dbsp.sql.compiler.scope.scope import Scope, renamed
from dbsp.sql.compiler.streams.definitions import with_definitions
from dbsp.sql.compiler.streams.histories import Histories
from dbsp.sql.compiler.streams.on_arrival import follows, on_arrival
from dbsp.sql.compiler.streams.select_stream import (
    Relations,
    check_stream,
    emission_of_stream,
    is_streaming,
    words_of,
)
from dbsp.sql.compiler.views.columns import check_columns, check_named
from dbsp.sql.compiler.views.recursion import relations_in, too_early
from dbsp.sql.compiler.views.recursive_views import Recursions
from dbsp.sql.compiler.views.shown_order import shown_order
from dbsp.sql.plans.collations import collated
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import UNSHOWN, Ordered, View
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.rules import apply_rules
from dbsp.sql.text.emission_clauses import resolved
from dbsp.sql.text.expectations import checked
from dbsp.sql.text.statements.create_view import CreateView
from dbsp.sql.text.tokens import Slice


@dataclass
class Views:
    """Adds view by view to a program. written: their plans before columns are left out that nothing reads.
    queries: what those were read with.
    """

    scope: Scope
    written: dict[str, Plan] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    recursions: Recursions = field(init=False)
    histories: Histories = field(init=False)

    def __post_init__(self) -> None:
        self.recursions = Recursions(self.scope)
        self.histories = Histories(self.scope.source, self.scope.defined.streams, self.scope.defined.views)

    def exact(self) -> dict[str, Plan]:
        """The plans, as written, of the views that are their plans' rows."""
        exact = self.scope.defined.exact_views()
        return {name: plan for name, plan in self.written.items() if name in exact}

    def add(self, statement: CreateView) -> None:
        self.scope.check_new_name(statement.name, statement.start)
        expected = checked(statement.name, statement.columns, statement.expectations)
        view, dumped = self._query(
            statement.name,
            statement.query,
            statement.kind,
            statement.columns,
            statement.start,
            expected,
            statement.arrival,
            tick=statement.tick,
            grows=statement.grows,
        )
        check_columns(self.scope, view, statement)
        if statement.grows and not view.append_only:
            message = (
                f"streaming table '{view.name}' would take rows back, as its query does; read tables WITH "
                "(append_only = true), or write CREATE MATERIALIZED VIEW"
            )
            raise self.scope.source.error(statement.start, message)
        if statement.emission is not None:
            if view.emits_once:
                message = "rows of SELECT STREAM leave when they are final; leave this, or STREAM, out"
                raise self.scope.source.error(statement.emission.start, message)
            view = replace(
                view, emission=resolved(self.scope.source, statement.emission, self.scope.microseconds)
            )
        if statement.emit_final is not None and not view.emits_once:
            view = self._final(view, statement.emit_final, statement.start)
        self.scope.defined.views[view.name] = view
        types = _types(dumped)
        if statement.arrival is not None:
            types.append("long")
        self.scope.catalyst.register(
            view.name,
            [(field.name, type_, field.nullable) for field, type_ in zip(view.schema, types, strict=True)],
        )

    def _final(self, view: View, column: str, start: int) -> View:
        """The view whose rows leave once, when the waterline has passed the column.

        column: its name, or its place, from 0.
        """
        names = [field.name for field in view.schema]
        at = next((i for i, name in enumerate(names) if name.lower() == column.lower()), None)
        if at is None and column.isdecimal() and int(column) < len(names):
            at = int(column)
        if at is None:
            message = f"emit_final: unknown column '{column}' in '{view.name}'; columns: {', '.join(names)}"
            raise self.scope.source.error(start, message + did_you_mean(column, names))
        by = Column(at, view.schema[at].type, view.schema[at].nullable)
        location = self.scope.source.location(start)
        return replace(view, emission=Ordered(None, None, True, location, once=True, by=by))

    def add_query(self, name: str, text: Slice, once: bool = False) -> None:
        """A view of a query, of which nothing else is said. once: see `View.unshown`. Raises ProgramError."""
        view, _ = self._query(name, text, "view", (), text.start, once=once)
        self.scope.defined.views[name] = view

    def _query(
        self,
        name: str,
        text: Slice,
        kind: str,
        columns: Sequence[str],
        start: int,
        expected: Sequence[str | Slice] = (),
        arrival: str | None = None,
        once: bool = False,
        tick: int = 0,
        grows: bool = False,
    ) -> tuple[View, Any]:
        query, dumped = self.scope.dumped(text, name, expected)
        query = replace(query, tick=tick)
        unshown = 0
        if once:
            wide, unshown = widened(query, dumped["plan"])
            more = [f"{UNSHOWN}{i}" for i in range(unshown)]
            dumped = {**dumped, "plan": wide, "names": [*dumped["names"], *more]}
        for early in sorted(relations_in(dumped["plan"]) & self.recursions.undefined):
            raise too_early(self.scope.source, text, early, self.recursions.awaited(early))
        names = columns or dumped["names"]
        check_named(self.scope, text, names)
        if not dumped["names"]:
            raise self.scope.source.error(text.start, f"view '{name}' has no columns; select at least one")
        if len(names) != len(dumped["names"]):
            message = f"view '{name}' lists {len(names)} columns, its query has {len(dumped['names'])}"
            raise self.scope.source.error(start, message)
        written = renamed(plan(query, dumped["plan"]).plan, names)
        if arrival is not None:
            written = numbered_by_arrival(query, dumped["plan"], written, arrival)
        self.written[name], self.queries[name] = written, query
        streaming = is_streaming(words_of(self.scope.source, text))
        if streaming:
            optimized = self._streaming(written)
        else:
            optimized = apply_rules(written)
            if grows or kind == "local":
                optimized = self._arriving(optimized, dumped, text)
        retracts_nothing = optimized.append_only(self.scope.defined.append_only())
        location = self.scope.source.location(start)
        asked = order_of(query, dumped["plan"])
        order = shown_order(query, asked, name, kind, streaming)
        relations = Relations(
            self.scope.defined.streams, self.scope.defined.monotonic(), self.scope.defined.forgetful
        )
        history = check_stream(query, text, optimized, relations, kind, asked, order)
        if streaming:
            self.histories.serve(written)
        elif history is False:
            self.histories.add(name, kind, text, optimized)
        if history is not None:
            self.scope.defined.streams[name] = history
        if optimized.forgets(self.scope.defined.forgetful):
            self.scope.defined.forgetful.add(name)
        emission = (
            None if kind == "local" else emission_of_stream(self.scope.source, text, retracts_nothing, order)
        )
        view = View(
            name,
            _collated(written.schema, dumped),  # rules keep its columns, not all that is known of them
            kind,
            optimized,
            retracts_nothing,
            location,
            emission=emission,
            order=order,
            unshown=unshown,
            tick=tick,
        )
        return view, dumped

    def _streaming(self, written: Plan) -> Plan:
        """The plan of SELECT STREAM."""
        streams, grows = self.scope.defined.streams.keys(), self.scope.defined.append_only()
        plans = {name: plan for name, plan in self.exact().items() if name in streams and not grows[name]}
        return on_arrival(apply_rules(with_definitions(written, plans, streams, grows)), streams, grows)

    def _arriving(self, plan: Plan, dumped: Any, text: Slice) -> Plan:
        """The plan of what reads relations by STREAM(…). Raises ProgramError."""
        streamed = frozenset(dumped.get("streamed", ()))
        if not streamed:
            return plan
        for name in dumped["twice"]:
            message = f"not supported yet: '{name}' is read by STREAM and without in one query"
            raise self.scope.source.error(text.start, message)
        plan = on_arrival(plan, streamed, self.scope.defined.append_only(), as_it_is=True)
        later = follows(plan, streamed)
        if later is not None:
            raise self.scope.source.error(
                text.start,
                f"not supported yet: rows of a stream meet '{later}', read without STREAM, other than by an "
                "inner, left, semi or anti join, with the stream on the left; write such a join",
            )
        return plan


def _collated(schema: Schema, dumped: Any) -> Schema:
    """The columns with the collations that Spark shows them with. Columns that only order come last."""
    if "shown" not in dumped:
        return schema
    shown = [collated(type_) for type_ in _types(dumped)]
    shown += [""] * (len(schema) - len(shown))
    return tuple(replace(column, collated=one) for column, one in zip(schema, shown, strict=True))


def _types(dumped: Any) -> list[Any]:
    """What Spark has the columns as."""
    numbers = dumped.get("shown", [column[2] for column in dumped["plan"]["out"]])
    return [dumped["types"][number] for number in numbers]
