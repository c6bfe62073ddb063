"""A program's fingerprint: equal for programs whose state is interchangeable, in this and in later releases.

FORMS is the spelling of all that a program is made of. It is only ever added to: a class has its word and a
field its place for ever. A new field goes to the end, as a `Default` with the value that it has in programs
that knew nothing of it; the place of one that is gone is left as None.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from dbsp.circuits.identity.canonical import Default, Form, Forms, canonical_text, check_form
from dbsp.circuits.identity.values import VALUES
from dbsp.circuits.operators.groups.windows.calls import WHOLE
from dbsp.sql.plans import calls, program
from dbsp.sql.plans import nodes as p
from dbsp.sql.plans.clock import changes
from dbsp.sql.plans.schemas import Field

_KEYED = ("left", "right", "kind", "left_keys", "right_keys", "null_safe")

FORMS: Forms = {
    **VALUES,
    # relations
    program.Table: Form(
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
    program.View: Form(
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
    program.Insert: Form(
        "insert", ("target", "view", "shape", "columns", Default("key", ())), silent=("location",)
    ),
    program.ColumnLateness: Form(
        "lateness",
        ("column", "amount", "jump", Default("percentile", None), Default("decreasing", False)),
    ),
    program.Triggers: Form(
        "triggers",
        ("counting", "delay", "waterline", Default("once", False), Default("paced", False)),
        silent=("location",),
    ),
    program.Ordered: Form(
        "ordered",
        ("counting", "delay", "waterline", Default("once", False), Default("paced", False), "by"),
        silent=("location",),
    ),
    program.Schedule: Form(
        "schedule",
        ("first", "complete", "last", "every", "rows", "late", "flagged"),
        silent=("location", "rate_only"),
    ),
    Field: Form("field", ("name", "type", Default("nullable", True), Default("collated", ""))),
    # plans
    p.Scan: Form("scan", ("relation", "schema", Default("arrival", False), Default("rowtime", False))),
    p.Values: Form("values", ("rows", "schema")),
    p.Project: Form("project", ("input", "expressions", "schema")),
    p.Filter: Form("filter", ("input", "condition")),
    p.TemporalFilter: Form("visible", ("input", "bounds")),
    p.TimedProjection: Form("phases", ("input", "changes", "expressions", "condition", "schema")),
    p.Join: Form("join", (*_KEYED, "residual", "schema")),
    p.ArrivalJoin: Form("arrival_join", (*_KEYED, "residual", "schema")),
    p.AsOf: Form("as_of", (*_KEYED, "left_time", "right_time", "comparison", "schema")),
    p.Aggregate: Form("aggregate", ("input", "keys", "aggregates", "schema")),
    p.Distinct: Form("distinct", ("input",)),
    p.Union: Form("union", ("parts", "schema")),
    p.SetOperation: Form("set_operation", ("left", "right", "kind", "schema")),
    p.Expand: Form("expand", ("input", "projections", "schema")),
    p.Generate: Form(
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
    p.Window: Form("window", ("input", "partition", "calls", "schema")),
    p.Top: Form("top", ("input", "partition", "order", "ranking", "size", "ranked", "schema")),
    p.Levels: Form("levels", ("anchor", "term", "limit", "schema")),
    # what plans compute
    changes.TimeBound: Form("bound", ("value", "clock", "leaves", "at_once")),
    changes.Crossing: Form("crossing", ("value", "clock", "at_once", "low")),
    changes.Changes: Form("changes", ("crossings", "readings", "ahead", "restless")),
    calls.SortOrder: Form("by", ("expression", Default("descending", False), Default("nulls_last", False))),
    calls.AggregateCall: Form(
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
    calls.WindowCall: Form(
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

for _class, _form in FORMS.items():
    check_form(_class, _form)


def fingerprint(
    timezone: str,
    tables: Mapping[str, program.Table],
    views: Mapping[str, program.View],
    inserts: Sequence[program.Insert],
) -> str:
    """Hexadecimal SHA-256 of what the program computes, however it is written."""
    text = canonical_text((timezone, list(tables.values()), list(views.values()), inserts), FORMS)
    return hashlib.sha256(text.encode()).hexdigest()
