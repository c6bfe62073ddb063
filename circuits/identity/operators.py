"""The spelling of operators: what each of them means, whatever its class and fields are called.

Only ever added to, like VALUES. Silent are names for people, schemas, whose types follow from the inputs and
the other fields, and what says how a trace is searched rather than what is found.
"""

from __future__ import annotations

from dbsp.circuits.identity.canonical import Default, Form, Forms, check_form
from dbsp.circuits.identity.values import VALUES
from dbsp.circuits.operators import distinct, generate, linear, recursion, set_operation, streams
from dbsp.circuits.operators.clock import temporal_filter, timed_projection
from dbsp.circuits.operators.emission import emit, records, timers, trigger
from dbsp.circuits.operators.groups import aggregate, combine, combine_expanded, sessions, top, window
from dbsp.circuits.operators.groups.aggregates import (
    bits,
    counts,
    extremes,
    finalized,
    hyperloglog,
    moments,
    presence,
    sums,
)
from dbsp.circuits.operators.groups.aggregates.sketches import bitmaps, count_min
from dbsp.circuits.operators.groups.state import accumulators
from dbsp.circuits.operators.groups.windows import calls
from dbsp.circuits.operators.inputs import (
    absent,
    arrival_times,
    arrivals,
    bad,
    checks,
    defaults,
    event_times,
    formulas,
    late,
    replacement,
    tables,
    thresholds,
    waiting,
)
from dbsp.circuits.operators.joins import as_of, join, lookup, semijoin
from dbsp.circuits.progress import limits
from dbsp.circuits.progress.waterline import Lateness

# of every function of accumulators
_ACCUMULATED = (Default("state", 0), Default("values", None), Default("parts", ()))

OPERATORS: Forms = {
    # linear
    linear.Source: Form("source", ("table",), silent=("columns",)),
    linear.Constant: Form("constant", (), silent=("rows",)),
    linear.Map: Form("map", ("expressions",), silent=("output",)),
    linear.Filter: Form("filter", ("condition",)),
    linear.FlatMap: Form("flat_map", ("projections",), silent=("output",)),
    linear.Union: Form("union", (), silent=("output",)),
    linear.Negate: Form("negate", ()),
    generate.Generate: Form(
        "generate",
        ("kept", "elements", Default("outer", False), Default("position", False), Default("fields", False)),
        silent=("output",),
    ),
    # streams
    streams.Integrate: Form(
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
    streams.Exchange: Form("exchange", ("columns",)),
    streams.Broadcast: Form("broadcast", (Default("columns", ()),)),
    streams.Delay: Form("delay", ()),
    streams.Differentiate: Form("differentiate", ()),
    streams.Current: Form("current", ()),
    # joins and sets
    join.Join: Form(
        "join",
        ("left_key", "right_key", "columns", Default("residual", None)),
        silent=("left_band", "right_band"),
    ),
    semijoin.SemiJoin: Form("semi_join", ("left_on", "right_on", Default("anti", False))),
    lookup.Lookup: Form("lookup", ("left_key", "right_key", "kind", Default("residual", None))),
    as_of.AsOf: Form(
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
    distinct.Distinct: Form("distinct", ()),
    set_operation.SetOperation: Form("set_operation", ("kind",)),
    # groups
    combine.Combine: Form("combine", ("keys", "accumulators")),
    combine.CombineParts: Form("combine_parts", ("keys", "split")),
    combine_expanded.CombineExpanded: Form(
        "combine_expanded", ("projections", "shared", "arguments", "accumulators"), silent=("keys",)
    ),
    aggregate.Aggregate: Form("aggregate", ("keys", "accumulated", "results"), silent=("output",)),
    top.Top: Form(
        "top", ("partition", "order", "ranking", "size", Default("ranked", False)), silent=("made",)
    ),
    top.TopOfAppends: Form(
        "top_of_appends",
        ("partition", "order", "ranking", "size", Default("ranked", False)),
        silent=("made",),
    ),
    window.Window: Form("window", ("partition", "functions"), silent=("made",)),
    sessions.Sessions: Form("sessions", ("partition", "start", "end"), silent=("output",)),
    # recursion
    recursion.Recurrence: Form("recurrence", ("limit",), silent=("loop", "name", "columns", "past_limit")),
    recursion.Earliest: Form("earliest", ()),
    recursion.FixedPoint: Form("fixed_point", ()),
    # tables
    tables.NonNegative: Form("non_negative", (), silent=("table",)),
    tables.OneOfEach: Form("one_of_each", ("key",), silent=("table",)),
    tables.AppendOnly: Form("append_only", (), silent=("table",)),
    tables.Upsert: Form("upsert", ("key", Default("lateness", ()))),
    defaults.Defaults: Form("defaults", ("defaults",)),
    formulas.Formulas: Form("formulas", ("formulas", Default("by_key", False))),
    checks.Checks: Form("checks", (), silent=("table", "checks")),
    arrival_times.ArrivalTime: Form("arrival_time", ("column",)),
    arrivals.Arrival: Form("arrival", ()),
    arrivals.Remaining: Form("remaining", ("key",)),
    # waterlines
    late.OnTime: Form("on_time", ("relation", "lateness")),
    late.Late: Form("late", ("relation", "lateness", "names")),
    late.Frozen: Form("frozen", ("relation", "key", "lateness")),
    event_times.EventTimes: Form("event_times", ("lateness", "of")),
    event_times.LastEventTimes: Form("last_event_times", ("lateness",)),
    thresholds.Proved: Form("proved", ("lateness",)),
    waiting.Waiting: Form("waiting", ("placed_by", "watermark")),
    waiting.Released: Form("released", ("watermark",)),
    # the clock
    temporal_filter.Ahead: Form(
        "ahead", ("placed_by", "column", "clock", "at_once", "value", Default("silent", False))
    ),
    temporal_filter.Difference: Form("difference", ()),
    timed_projection.TimedProjection: Form(
        "timed_projection",
        ("crossings", "readings", "values", "condition", "ahead", "restless"),
        silent=("output",),
    ),
    # emission
    records.Records: Form("records", ()),
    timers.Timers: Form("timers", ("placed_by", "instants", "threshold", Default("again", False))),
    trigger.Trigger: Form(
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
    emit.Emit: Form("emit", ("key", Default("schedule", None), Default("limits", ())), silent=("once",)),
    bad.Numbered: Form("numbered", ()),
    replacement.Replacement: Form("replacement", ("table", "key")),
    absent.Absent: Form("absent", ()),
    absent.Excuses: Form("excuses", ("relation", "origin_name", "names")),
    # what they are made of
    accumulators.Values: Form("values", ("column",)),
    accumulators.NarrowSum: Form("narrow_sum", ("column",)),
    accumulators.Digit: Form("digit", ("column", "position")),
    accumulators.Least: Form("least", ("column",)),
    accumulators.Greatest: Form("greatest", ("column",)),
    counts.Count: Form("counted", _ACCUMULATED),
    presence.Presence: Form("present", _ACCUMULATED),
    extremes.Extreme: Form("extreme", _ACCUMULATED),
    extremes.OrderedExtreme: Form("ordered_extreme", ("trace", "greatest")),
    sums.Sum: Form("sum", (*_ACCUMULATED, Default("lenient", False))),
    sums.Average: Form("average", (*_ACCUMULATED, Default("lenient", False), Default("scale", 0))),
    sums.DoubleSum: Form("double_sum", (*_ACCUMULATED, Default("trace", 0))),
    sums.DoubleAverage: Form("double_average", (*_ACCUMULATED, Default("trace", 0))),
    finalized.Finalized: Form("finalized", ("trace", "finalizer")),
    sums.Doubles: Form("doubles", ()),
    bits.Bits: Form("bits", ()),
    hyperloglog.Registers: Form("registers", ()),
    bitmaps.Positions: Form("positions", ()),
    bitmaps.SetBits: Form("set_bits", ()),
    count_min.Cells: Form("cells", ("depth", "width", "seed")),
    moments.Moments: Form("moments", ("powers",)),
    aggregate.Result: Form("result", ("data_type", "function"), silent=("text",)),
    calls.WindowFunction: Form(
        "function",
        (
            "function",
            "type",
            Default("order", ()),
            Default("arguments", ()),
            Default("frame", calls.WHOLE),
            Default("number", 0),
            Default("ignore_nulls", False),
            Default("filtered", False),
            Default("lenient", False),
            Default("values", None),
        ),
    ),
    Lateness: Form(
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
    limits.Limit: Form("limit", ("expression", "bounds", Default("last_of", None))),
    thresholds.Threshold: Form("threshold", ("lateness", "bounds", Default("at_once", False))),
    timed_projection.Crossing: Form("passes", ("column", "clock", "at_once", "turns")),
    timers.After: Form("after", ("delay",)),
    timers.At: Form("due", ("value",)),
    timers.Timetable: Form("timetable", ("end", "first", "every", "complete", "last")),
    trigger.Passed: Form("passed", ("value", "threshold")),
    trigger.Schedule: Form("results", ("table", "threshold", "rows", "late", "flagged")),
}

for _class, _form in OPERATORS.items():
    check_form(_class, _form)

FORMS: Forms = {**VALUES, **OPERATORS}
