"""AUTO CDC as views: what a stream of changes says of each key.

    SCD 1   σ[not deleted](top[keys; row_number; 1](events))        the greatest sequence value first
    SCD 2   σ[the last of a run](ω[keys](top[keys, sequence; row_number; 1](events)))

An event is an upsert, or a delete where the condition of APPLY AS DELETE is true. One that comes late has its
place by its sequence value: the result is that of all events, in whatever steps they came. Events of one key
and one value are ordered as Spark's merges order them: of type 1 an upsert before a delete, and the last that
came; of type 2 a delete before an upsert, and that of the first step.

SCD 2: a run is of upserts that follow each other and agree in what is tracked. One row is of it, with the
columns of its last upsert, from the value of its first to that of what follows it, upsert or delete.

A result's columns are Spark's, with the one in which it keeps what its merges need. A NULL key or sequence
value fails the step. Source: `org.apache.spark.sql.pipelines.autocdc` of Spark 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dbsp.declared.project.datasets import Changes, shown
from dbsp.sql.text.tokens import quoted

# what Spark reserves: no source has such a column
_PREFIX = "__spark_autocdc_"
METADATA = f"{_PREFIX}metadata"
SEQUENCE, DELETES = f"`{_PREFIX}sequence`", f"`{_PREFIX}deletes`"
_ARRIVAL = f"{_PREFIX}arrival"
_START, _END = "`__START_AT`", "`__END_AT`"
_NEXT, _FIRST, _GOES_ON, _RANK = (f"`{_PREFIX}{name}`" for name in ("next", "first", "goes_on", "rank"))
# an arrival is step · 2³² + position
_STEP = f"shiftright(`{_ARRIVAL}`, 32)"


def events_head(view: str) -> str:
    """Of the view of the events, whose query is `events_parts`, in order of arrival."""
    return f"CREATE LOCAL VIEW {view} WITH ('append_only' = 'true', 'arrival' = '{_ARRIVAL}') AS"


def events_parts(changes: Changes) -> tuple[str, str, str]:
    """What stands before the condition of a delete, between it and the sequence, and between that and the
    source.
    """
    columns = ", ".join(map(_quoted, changes.columns))
    return (
        f"SELECT {columns}, CASE WHEN",
        f"THEN true ELSE false END AS {DELETES}, (",
        f") AS {SEQUENCE} FROM",
    )


def result(changes: Changes, target: str, events: str, types: Mapping[str, str]) -> str:
    """The query of the target's rows. types: of its columns. Its columns are Spark's, in its order."""
    rows = f"(SELECT * FROM {events} WHERE {_valid(changes, target)})"
    return _history(changes, rows) if changes.history else _last(changes, rows, types)


def _last(changes: Changes, events: str, types: Mapping[str, str]) -> str:
    keys = ", ".join(map(_quoted, changes.keys))
    order = f"{SEQUENCE} DESC, {DELETES}, `{_ARRIVAL}` DESC"
    metadata = (
        f"CAST(named_struct('deleteSequence', NULL, 'upsertSequence', {SEQUENCE}) AS {types[METADATA]})"
    )
    return (
        f"SELECT {_listed(changes)}, {metadata} AS `{METADATA}` FROM "
        f"(SELECT *, row_number() OVER (PARTITION BY {keys} ORDER BY {order}) AS {_RANK} FROM {events}) "
        f"WHERE {_RANK} = 1 AND NOT {DELETES}"
    )


def _history(changes: Changes, events: str) -> str:
    keys = ", ".join(map(_quoted, changes.keys))
    order = f"{DELETES} DESC, {_STEP}, `{_ARRIVAL}` DESC"
    ordered = f"(PARTITION BY {keys} ORDER BY {SEQUENCE})"
    same = "".join(f" AND lead({_quoted(name)}) OVER w <=> {_quoted(name)}" for name in changes.tracked)
    return (
        f"SELECT {_listed(changes)}, {_START}, {_NEXT} AS {_END}, "
        f"named_struct('__RECORD_START_AT', {SEQUENCE}) AS `{METADATA}` FROM "
        f"(SELECT *, coalesce(lag({_NEXT}) OVER {ordered}, {_FIRST}) AS {_START} FROM "
        f"(SELECT *, lead({SEQUENCE}) OVER w AS {_NEXT}, first_value({SEQUENCE}) OVER w AS {_FIRST}, "
        f"NOT {DELETES} AND coalesce(NOT lead({DELETES}) OVER w, false){same} AS {_GOES_ON} FROM "
        f"(SELECT *, row_number() OVER (PARTITION BY {keys}, {SEQUENCE} ORDER BY {order}) AS {_RANK} "
        f"FROM {events}) WHERE {_RANK} = 1 WINDOW w AS {ordered}) WHERE NOT {_GOES_ON}) WHERE NOT {DELETES}"
    )


def _valid(changes: Changes, target: str) -> str:
    """True, or an error in Spark's words."""
    checks = "".join(
        f" WHEN {value} IS NULL THEN raise_error({said})" for value, said in _nulls(changes, target)
    )
    return f"CASE{checks} ELSE true END"


def _nulls(changes: Changes, target: str) -> Iterator[tuple[str, str]]:
    failed = (
        f"AutoCDC flow on table {shown(target)} failed microbatch validation. The microbatch contains rows"
    )
    said = f"[AUTOCDC_MICROBATCH_VALIDATION.NULL_SEQUENCE] {failed} with a null sequencing value. "
    yield SEQUENCE, _text(f"{said}All rows must have a non-null sequencing value.")
    for key in changes.keys:
        said = f"[AUTOCDC_MICROBATCH_VALIDATION.NULL_KEY] {failed} with null values in the key column {key}. "
        yield _quoted(key), _text(f"{said}All rows must have non-null values for every key column.")


def _listed(changes: Changes) -> str:
    return ", ".join(map(_quoted, changes.columns))


def _quoted(name: str) -> str:
    return quoted([name])


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
