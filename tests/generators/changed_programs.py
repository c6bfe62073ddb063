"""Compiled programs as they are changed: views added, removed, renamed, with other queries; wider tables;
TRIGGERs that come, go and are others; LATENESS of other amounts.

Made of plans, so that they need no Catalyst.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from dbsp.circuits.expressions.nodes import Call, Column, Expression, Literal
from dbsp.sql.lowering.program import lower
from dbsp.sql.plans.identity.fingerprint import fingerprint
from dbsp.sql.plans.nodes import Distinct, Filter, Project, Scan, Union
from dbsp.sql.plans.nodes.levels import Levels
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import ColumnLateness, Program, Table, Triggers, View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.rules.traverse import bottom_up

ADDED = Field("added", pa.string())


def assembled(like: Program, tables: Mapping[str, Table], views: Mapping[str, View]) -> Program:
    """The program of these tables and views."""
    known = fingerprint(like.timezone, tables, views, ())
    circuit = lower(tables, views)
    return replace(
        like, fingerprint=known, tables=dict(tables), views=dict(views), inserts=(), circuit=circuit
    )


def with_all_rows(program: Program) -> Program:
    """And a view of each append-only table, which holds its rows."""
    views = dict(program.views)
    for table in program.tables.values():
        if table.append_only:
            name = f"all_{table.name}"
            scan = Scan(table.name, table.schema)
            views[name] = View(name, table.schema, "view", scan, True, "by hand")
    return assembled(program, program.tables, views)


# how far a value is to be passed, in the units of `dbsp.circuits.progress.waterline`
_DELAYS = {pa.int32(): 1, pa.int64(): 1, pa.date32(): 1, pa.timestamp("us", "UTC"): 12 * 60_000_000}


def with_watermarks(program: Program, choose: random.Random) -> Program:
    """And a WATERMARK of a column of some tables, so that rows of them wait."""
    tables = dict(program.tables)
    for name, table in tables.items():
        able = [i for i, field in enumerate(table.schema) if field.type in _DELAYS]
        if able and choose.random() < 0.5:
            at = choose.choice(able)
            delay = ColumnLateness(at, _DELAYS[table.schema[at].type], None)
            tables[name] = replace(table, watermarks=(delay,))
    return assembled(program, tables, program.views)


def changed(program: Program, choose: random.Random) -> Program:
    """The program with some of its views, under other names or with other queries."""
    views = _some(program.views, choose)
    views = {name: _with_query(view, choose) for name, view in views.items()}
    views = _renamed(views, choose)
    relations = {table.name: table.append_only for table in program.tables.values()}
    for name, view in views.items():
        if not view.component:
            views[name] = replace(view, append_only=view.plan.append_only(relations))
        relations[name] = views[name].append_only
    if all(view.kind == "local" for view in views.values()):
        last = list(views)[-1]
        views[last] = replace(views[last], kind="view")
    return assembled(program, program.tables, views)


def widened(program: Program, names: set[str]) -> Program:
    """With one column more in some tables, which no view reads."""
    tables = {
        name: replace(table, schema=(*table.schema, ADDED)) if name in names else table
        for name, table in program.tables.items()
    }

    def narrow(plan: Plan) -> Plan:
        if not isinstance(plan, Scan) or plan.relation not in names:
            return plan
        columns = tuple(Column(i, field.type, field.nullable) for i, field in enumerate(plan.schema))
        before = replace(plan, schema=(*plan.schema[: len(program.tables[plan.relation].schema)], ADDED))
        return Project(before, columns, plan.schema)

    views = {name: replace(view, plan=bottom_up(view.plan, narrow)) for name, view in program.views.items()}
    return assembled(program, tables, views)


def waiting(program: Program, choose: random.Random) -> Program:
    """With TRIGGERs of some of its outputs, which fire by records."""
    views = {
        name: replace(view, emission=Triggers(choose.randint(1, 4), None, False, "by hand"))
        if view.kind == "view" and not view.component and choose.random() < 0.5
        else view
        for name, view in program.views.items()
    }
    return assembled(program, program.tables, views)


def late_by(program: Program, amounts: Mapping[tuple[str, int], int]) -> Program:
    """With LATENESS of some columns, by table and place."""
    tables = {
        name: replace(
            table,
            lateness=tuple(
                ColumnLateness(i, n, None) for (of, i), n in sorted(amounts.items()) if of == name
            ),
        )
        for name, table in program.tables.items()
    }
    return assembled(program, tables, program.views)


def numbers_of(program: Program) -> list[tuple[str, int]]:
    """The columns of its tables that are integers, by table and place."""
    return [
        (name, i)
        for name, table in program.tables.items()
        for i, field in enumerate(table.schema)
        if pa.types.is_int64(field.type)
    ]


def _some(views: Mapping[str, View], choose: random.Random) -> dict[str, View]:
    """Without some, and what reads them."""
    gone: set[str] = set()
    for name, view in views.items():
        if choose.random() < 0.25 or view.plan.scanned() & gone or {*view.component} & gone:
            gone |= {name, *view.component}
    kept = {name: view for name, view in views.items() if name not in gone}
    return kept or dict(views)


def _with_query(view: View, choose: random.Random) -> View:
    if view.component or view.emission or choose.random() < 0.4:
        return view
    # other columns of a level, and the last one may have a next one for ever
    if choose.random() < 0.6 and not _has_levels(view.plan):
        return replace(view, plan=bottom_up(view.plan, lambda plan: _of_other_columns(plan, choose)))
    first = view.plan.schema[0]
    known = Call("is_not_null", (Column(0, first.type, first.nullable),), pa.bool_(), False)
    plans: list[Plan] = [
        Distinct(view.plan),
        Union((view.plan, view.plan), view.plan.schema),
        Filter(view.plan, known),
    ]
    return replace(view, plan=choose.choice(plans))


def _has_levels(plan: Plan) -> bool:
    return isinstance(plan, Levels) or any(map(_has_levels, plan.inputs))


def _of_other_columns(plan: Plan, choose: random.Random) -> Plan:
    """The plan, columns of a projection being others of the same type, or NULL."""
    if not isinstance(plan, Project) or choose.random() < 0.3:
        return plan
    given = plan.input.schema
    expressions: list[Expression] = list(plan.expressions)
    for i, expression in enumerate(expressions):
        if isinstance(expression, Column):
            alike: list[Expression] = [
                Column(j, field.type, field.nullable)
                for j, field in enumerate(given)
                if (field.type, field.nullable) == (expression.type, expression.nullable)
            ]
            if expression.nullable:
                alike.append(Literal(None, expression.type))
            expressions[i] = choose.choice(alike or [expression])
    return replace(plan, expressions=tuple(expressions))


def _renamed(views: Mapping[str, View], choose: random.Random) -> dict[str, View]:
    names = {
        name: f"{name}_renamed" if not view.component and choose.random() < 0.2 else name
        for name, view in views.items()
    }

    def follow(plan: Plan) -> Plan:
        return (
            replace(plan, relation=names.get(plan.relation, plan.relation))
            if isinstance(plan, Scan)
            else plan
        )

    return {
        names[name]: replace(view, name=names[name], plan=bottom_up(view.plan, follow))
        for name, view in views.items()
    }
