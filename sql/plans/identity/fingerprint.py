"""A program's fingerprint: equal for programs whose state is interchangeable, in this and in later releases.

FORMS is the spelling of all that a program is made of. It is only ever added to: a class has its word and a
field its place for ever. A new field goes to the end, as a `Default` with the value that it has in programs
that knew nothing of it; the place of one that is gone is left as None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from dbsp.circuits.identity.canonical import Default, Form, Forms, canonical_text, within
from dbsp.circuits.identity.values import VALUES
from dbsp.circuits.operators.groups.windows.calls import WHOLE
from dbsp.sql.plans.program import Insert, Table, View

_KEYED = ("left", "right", "kind", "left_keys", "right_keys", "null_safe")

_NAMED: Forms = {
    # relations
    "program.Table": Form(
        "table",
        (
            "name",
            "schema",
            "primary_key",
            "append_only",
            "unchecked",
            Default("lateness", ()),
            Default("constant_domain", ()),
            Default("changelog", None),
            Default("defaults", ()),
            Default("watermarks", ()),
            Default("formulas", ()),
            Default("checks", ()),
        ),
        silent=(
            "format",
            "options",
            "location",
            "records",
            "is_snapshot",
            "snapshot_every",
            "keeps_bad_rows",
            "says_keep",
            "idle_timeout",
            "in_transactions",
            "max_bad_rows",
            "value_format",
            "key_format",
            "schema_registry",
        ),
    ),
    "program.View": Form(
        "view",
        (
            "name",
            "schema",
            "kind",
            "plan",
            "append_only",
            Default("lateness", ()),
            Default("component", ()),
            Default("max_iterations", 0),
            Default("emission", None),
        ),
        silent=("location",),
    ),
    "program.Insert": Form(
        "insert", ("target", "view", "shape", "columns", Default("key", ())), silent=("location",)
    ),
    "program.ColumnLateness": Form(
        "lateness",
        ("column", "amount", "jump", Default("percentile", None), Default("decreasing", False)),
    ),
    "program.Triggers": Form(
        "triggers",
        ("counting", "delay", "waterline", Default("once", False), Default("paced", False)),
        silent=("location",),
    ),
    "program.Ordered": Form(
        "ordered",
        ("counting", "delay", "waterline", Default("once", False), Default("paced", False), "by"),
        silent=("location",),
    ),
    "program.Schedule": Form(
        "schedule",
        ("first", "complete", "last", "every", "rows", "late", "flagged"),
        silent=("location", "rate_only"),
    ),
    "schemas.Field": Form("field", ("name", "type", Default("nullable", True), Default("collated", ""))),
    # plans
    "nodes.leaves.Scan": Form(
        "scan", ("relation", "schema", Default("arrival", False), Default("rowtime", False))
    ),
    "nodes.leaves.Values": Form("values", ("rows", "schema")),
    "nodes.project.Project": Form("project", ("input", "expressions", "schema")),
    "nodes.filter.Filter": Form("filter", ("input", "condition")),
    "nodes.clock.TemporalFilter": Form("visible", ("input", "bounds")),
    "nodes.clock.TimedProjection": Form("phases", ("input", "changes", "expressions", "condition", "schema")),
    "nodes.join.Join": Form("join", (*_KEYED, "residual", "schema")),
    "nodes.arrival_join.ArrivalJoin": Form("arrival_join", (*_KEYED, "residual", "schema")),
    "nodes.as_of.AsOf": Form("as_of", (*_KEYED, "left_time", "right_time", "comparison", "schema")),
    "nodes.aggregate.Aggregate": Form("aggregate", ("input", "keys", "aggregates", "schema")),
    "nodes.sets.Distinct": Form("distinct", ("input",)),
    "nodes.sets.Union": Form("union", ("parts", "schema")),
    "nodes.sets.SetOperation": Form("set_operation", ("left", "right", "kind", "schema")),
    "nodes.expand.Expand": Form("expand", ("input", "projections", "schema")),
    "nodes.expand.Generate": Form(
        "generate",
        (
            "input",
            "kept",
            "elements",
            "schema",
            Default("outer", False),
            Default("position", False),
            Default("fields", False),
        ),
    ),
    "nodes.window.Window": Form("window", ("input", "partition", "calls", "schema")),
    "nodes.top.Top": Form("top", ("input", "partition", "order", "ranking", "size", "ranked", "schema")),
    "nodes.levels.Levels": Form("levels", ("anchor", "term", "limit", "schema")),
    # what plans compute
    "clock.changes.TimeBound": Form("bound", ("value", "clock", "leaves", "at_once")),
    "clock.changes.Crossing": Form("crossing", ("value", "clock", "at_once", "low")),
    "clock.changes.Changes": Form("changes", ("crossings", "readings", "ahead", "restless")),
    "calls.SortOrder": Form("by", ("expression", Default("descending", False), Default("nulls_last", False))),
    "calls.AggregateCall": Form(
        "total",
        (
            "function",
            "arguments",
            "type",
            "nullable",
            Default("filter", None),
            Default("distinct", False),
            Default("options", ()),
        ),
    ),
    "calls.WindowCall": Form(
        "over",
        (
            "function",
            "arguments",
            "type",
            "nullable",
            Default("order", ()),
            Default("frame", WHOLE),
            Default("number", 0),
            Default("ignore_nulls", False),
            Default("filtered", False),
            Default("lenient", False),
            Default("values", None),
        ),
    ),
}

PLANS = within("dbsp.sql.plans", _NAMED)
FORMS: Forms = {**VALUES, **PLANS}


def fingerprint(
    timezone: str,
    tables: Mapping[str, Table],
    views: Mapping[str, View],
    inserts: Sequence[Insert],
) -> str:
    """Hexadecimal SHA-256 of what the program computes, however it is written."""
    text = canonical_text((timezone, list(tables.values()), list(views.values()), inserts), FORMS)
    return hashlib.sha256(text.encode()).hexdigest()
