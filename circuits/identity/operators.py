"""The spelling of operators: what each of them means, whatever its class and fields are called.

Only ever added to, like VALUES. Silent are names for people, schemas, whose types follow from the inputs and
the other fields, and what says how a trace is searched rather than what is found.
"""

from __future__ import annotations

from dbsp.circuits.identity.canonical import Default, Form, Forms, within
from dbsp.circuits.identity.values import VALUES
from dbsp.circuits.operators.groups.windows.calls import WHOLE

# of every function of accumulators
_ACCUMULATED = (Default("state", 0), Default("values", None), Default("parts", ()))

_NAMED: Forms = {
    # linear
    "operators.linear.Source": Form("source", ("table",), silent=("columns",)),
    "operators.linear.Constant": Form("constant", (), silent=("rows",)),
    "operators.linear.Map": Form("map", ("expressions",), silent=("output",)),
    "operators.linear.Filter": Form("filter", ("condition",)),
    "operators.linear.FlatMap": Form("flat_map", ("projections",), silent=("output",)),
    "operators.linear.Union": Form("union", (), silent=("output",)),
    "operators.linear.Negate": Form("negate", ()),
    "operators.generate.Generate": Form(
        "generate",
        ("kept", "elements", Default("outer", False), Default("position", False), Default("fields", False)),
        silent=("output",),
    ),
    # streams
    "operators.streams.Integrate": Form(
        "integrate",
        (
            "placed_by",
            Default("order", None),
            Default("sums", ()),
            Default("minima", ()),
            Default("maxima", ()),
            Default("nulls_greatest", False),
            Default("gathered", False),
        ),
    ),
    "operators.streams.Exchange": Form("exchange", ("columns",)),
    "operators.streams.Broadcast": Form("broadcast", (Default("columns", ()),)),
    "operators.streams.Delay": Form("delay", ()),
    "operators.streams.Differentiate": Form("differentiate", ()),
    "operators.streams.Current": Form("current", ()),
    # joins and sets
    "operators.joins.join.Join": Form(
        "join",
        ("left_key", "right_key", "columns", Default("residual", None)),
        silent=("left_band", "right_band"),
    ),
    "operators.joins.semijoin.SemiJoin": Form("semi_join", ("left_on", "right_on", Default("anti", False))),
    "operators.joins.compared.ComparedSemiJoin": Form(
        "compared_semi_join",
        ("left_key", "left_value", "residual", "least", "greatest", Default("anti", False)),
    ),
    "operators.joins.lookup.Lookup": Form(
        "lookup", ("left_key", "right_key", "kind", Default("residual", None))
    ),
    "operators.joins.as_of.AsOf": Form(
        "as_of",
        (
            "left_key",
            "right_key",
            "left_time",
            "right_time",
            "comparison",
            "outer",
            Default("right_grows", False),
        ),
    ),
    "operators.distinct.Distinct": Form("distinct", ()),
    "operators.set_operation.SetOperation": Form("set_operation", ("kind",)),
    # groups
    "operators.groups.combine.Combine": Form("combine", ("keys", "accumulators")),
    "operators.groups.combine.CombineParts": Form("combine_parts", ("keys", "split")),
    "operators.groups.combine_expanded.CombineExpanded": Form(
        "combine_expanded", ("projections", "shared", "arguments", "accumulators"), silent=("keys",)
    ),
    "operators.groups.frequencies.Frequencies": Form("frequencies", ("keys", Default("greatest", False))),
    "operators.groups.aggregate.Aggregate": Form(
        "aggregate", ("keys", "accumulated", "results"), silent=("output",)
    ),
    "operators.groups.top.Top": Form(
        "top", ("partition", "order", "ranking", "size", Default("ranked", False)), silent=("made",)
    ),
    "operators.groups.top.TopOfAppends": Form(
        "top_of_appends",
        ("partition", "order", "ranking", "size", Default("ranked", False)),
        silent=("made",),
    ),
    "operators.groups.window.Window": Form("window", ("partition", "functions"), silent=("made",)),
    "operators.groups.sessions.Sessions": Form("sessions", ("partition", "start", "end"), silent=("output",)),
    # recursion
    "operators.recursion.Recurrence": Form(
        "recurrence", ("limit",), silent=("loop", "name", "columns", "past_limit")
    ),
    "operators.recursion.Earliest": Form("earliest", ()),
    "operators.recursion.FixedPoint": Form("fixed_point", ()),
    # tables
    "operators.inputs.tables.NonNegative": Form("non_negative", (), silent=("table",)),
    "operators.inputs.tables.OneOfEach": Form("one_of_each", ("key",), silent=("table",)),
    "operators.inputs.tables.AppendOnly": Form("append_only", (), silent=("table",)),
    "operators.inputs.tables.Upsert": Form("upsert", ("key", Default("lateness", ()))),
    "operators.inputs.defaults.Defaults": Form("defaults", ("defaults",)),
    "operators.inputs.formulas.Formulas": Form("formulas", ("formulas", Default("by_key", False))),
    "operators.inputs.checks.Checks": Form("checks", (), silent=("table", "checks")),
    "operators.inputs.arrival_times.ArrivalTime": Form("arrival_time", ("column",)),
    "operators.inputs.arrivals.Arrival": Form("arrival", ()),
    "operators.inputs.arrivals.Remaining": Form("remaining", ("key",)),
    # waterlines
    "operators.inputs.late.OnTime": Form("on_time", ("relation", "lateness")),
    "operators.inputs.late.Late": Form("late", ("relation", "lateness", "names")),
    "operators.inputs.late.Frozen": Form("frozen", ("relation", "key", "lateness")),
    "operators.inputs.event_times.EventTimes": Form("event_times", ("lateness", "of")),
    "operators.inputs.event_times.LastEventTimes": Form("last_event_times", ("lateness",)),
    "operators.inputs.thresholds.Proved": Form("proved", ("lateness",)),
    "operators.inputs.waiting.Waiting": Form("waiting", ("placed_by", "watermark")),
    "operators.inputs.waiting.Released": Form("released", ("watermark",)),
    # the clock
    "operators.clock.temporal_filter.Ahead": Form(
        "ahead", ("placed_by", "column", "clock", "at_once", "value", Default("silent", False))
    ),
    "operators.clock.temporal_filter.Difference": Form("difference", ()),
    "operators.clock.timed_projection.TimedProjection": Form(
        "timed_projection",
        ("crossings", "readings", "values", "condition", "ahead", "restless"),
        silent=("output",),
    ),
    # emission
    "operators.emission.records.Records": Form("records", ()),
    "operators.emission.timers.Timers": Form(
        "timers", ("placed_by", "instants", "threshold", Default("again", False))
    ),
    "operators.emission.trigger.Trigger": Form(
        "trigger",
        (
            "key",
            "agendas",
            Default("counting", None),
            Default("delay", None),
            Default("passed", ()),
            Default("schedule", None),
            Default("paced", False),
        ),
    ),
    "operators.emission.emit.Emit": Form(
        "emit", ("key", Default("schedule", None), Default("limits", ())), silent=("once",)
    ),
    "operators.inputs.bad.Numbered": Form("numbered", ()),
    "operators.inputs.replacement.Replacement": Form("replacement", ("table", "key")),
    "operators.inputs.absent.Absent": Form("absent", ()),
    "operators.inputs.absent.Excuses": Form("excuses", ("relation", "origin_name", "names")),
    # what they are made of
    "operators.groups.state.accumulators.Values": Form("values", ("column",)),
    "operators.groups.state.accumulators.NarrowSum": Form("narrow_sum", ("column",)),
    "operators.groups.state.accumulators.Digit": Form("digit", ("column", "position")),
    "operators.groups.state.accumulators.Least": Form("least", ("column",)),
    "operators.groups.state.accumulators.Greatest": Form("greatest", ("column",)),
    "operators.groups.aggregates.counts.Count": Form("counted", _ACCUMULATED),
    "operators.groups.aggregates.presence.Presence": Form("present", _ACCUMULATED),
    "operators.groups.aggregates.extremes.Extreme": Form("extreme", _ACCUMULATED),
    "operators.groups.aggregates.extremes.OrderedExtreme": Form("ordered_extreme", ("trace", "greatest")),
    "operators.groups.aggregates.sums.Sum": Form("sum", (*_ACCUMULATED, Default("lenient", False))),
    "operators.groups.aggregates.sums.Average": Form(
        "average", (*_ACCUMULATED, Default("lenient", False), Default("scale", 0))
    ),
    "operators.groups.aggregates.sums.DoubleSum": Form("double_sum", (*_ACCUMULATED, Default("trace", 0))),
    "operators.groups.aggregates.sums.DoubleAverage": Form(
        "double_average", (*_ACCUMULATED, Default("trace", 0))
    ),
    "operators.groups.aggregates.finalized.Finalized": Form("finalized", ("trace", "finalizer")),
    "operators.groups.aggregates.ranked.percentile.RankedPercentile": Form(
        "ranked_percentile", ("trace", "percentile")
    ),
    "operators.groups.aggregates.sums.Doubles": Form("doubles", ()),
    "operators.groups.aggregates.bits.Bits": Form("bits", ()),
    "operators.groups.aggregates.hyperloglog.Registers": Form("registers", ()),
    "operators.groups.aggregates.sketches.bitmaps.Positions": Form("positions", ()),
    "operators.groups.aggregates.sketches.bitmaps.SetBits": Form("set_bits", ()),
    "operators.groups.aggregates.sketches.count_min.Cells": Form("cells", ("depth", "width", "seed")),
    "operators.groups.aggregates.moments.Moments": Form("moments", ("powers",)),
    "operators.groups.aggregate.Result": Form("result", ("data_type", "function"), silent=("text",)),
    "operators.groups.windows.calls.WindowFunction": Form(
        "function",
        (
            "function",
            "type",
            Default("order", ()),
            Default("arguments", ()),
            Default("frame", WHOLE),
            Default("number", 0),
            Default("ignore_nulls", False),
            Default("filtered", False),
            Default("lenient", False),
            Default("values", None),
        ),
    ),
    "progress.waterline.Lateness": Form(
        "waterline",
        (
            "name",
            "column",
            "type",
            "amount",
            Default("jump", None),
            Default("percentile", None),
            Default("decreasing", False),
        ),
    ),
    "progress.limits.Limit": Form("limit", ("expression", "bounds", Default("last_of", None))),
    "operators.inputs.thresholds.Threshold": Form(
        "threshold", ("lateness", "bounds", Default("at_once", False))
    ),
    "operators.clock.timed_projection.Crossing": Form("passes", ("column", "clock", "at_once", "turns")),
    "operators.emission.timers.After": Form("after", ("delay",)),
    "operators.emission.timers.At": Form("due", ("value",)),
    "operators.emission.timers.Timetable": Form("timetable", ("end", "first", "every", "complete", "last")),
    "operators.emission.trigger.Passed": Form("passed", ("value", "threshold")),
    "operators.emission.trigger.Schedule": Form("results", ("table", "threshold", "rows", "late", "flagged")),
}

OPERATORS = within("dbsp.circuits", _NAMED)
FORMS: Forms = {**VALUES, **OPERATORS}
