"""Why a state can't be gone on with by a new program, with what to do instead."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from dbsp.circuits.errors import named_views
from dbsp.circuits.operators.inputs.arrival_times import ArrivalTime
from dbsp.circuits.operators.inputs.arrivals import Arrival
from dbsp.evolution.comparison import Comparison
from dbsp.evolution.known import is_late_otherwise
from dbsp.evolution.rules import never_null
from dbsp.evolution.sources import was_read
from dbsp.state.records.identity import FORMAT
from dbsp.state.records.reading import streams_of
from dbsp.targets.directories import began_after, local_target, steps_in, strangers


def refusals_of(compared: Comparison) -> Iterator[str]:
    yield from compared.columns[2]
    yield from _unseen(compared)
    yield from _spelled_otherwise(compared)
    yield from _other_tables(compared)
    yield from _other_sources(compared)
    yield from _other_sinks(compared)
    yield from _other_emission(compared)
    yield from _read_again_otherwise(compared)
    for missing in compared.filling[1].missing:
        cure = _CURE
        if missing.why in (Arrival.history, ArrivalTime.history):
            cure = f"{_BY_VALUE}, or {_CURE}"
        elif missing.table in compared.readable and not compared.from_source:
            again = f"read its {compared.read_of(missing.table)} again by --backfill from-source"
            cure = f"{again} (backfill='from-source'), or {_CURE}"
        elif missing.table in compared.readable:
            cure = _otherwise(compared, missing.table)
        yield f"{_whose(compared, missing.node)} can't be computed from what is there ({missing.why}); {cure}"


def _read_again_otherwise(compared: Comparison) -> Iterator[str]:
    """Tables whose sources would be read again for some views, where others have its rows from elsewhere."""
    for table in compared.filling[1].again:
        if _grown(compared, table):
            yield _otherwise(compared, table)


def _grown(compared: Comparison, table: str) -> list[str]:
    """The columns that are read of a table, and have in rows that were held what its source doesn't say."""
    schema, read = compared.program.inputs[table].schema, compared.filling[1].read_of(table)
    grown = compared.grown(table)
    return [column.name for i, column in enumerate(schema) if i in read and column.name in grown]


def _otherwise(compared: Comparison, table: str) -> str:
    return (
        f"the source of '{table}' tells of column '{_grown(compared, table)[0]}', which came later, what "
        f"rows that are held haven't got: views would not agree; {_CURE}"
    )


def _whose(compared: Comparison, node: int) -> str:
    """In words, the views that a node's rows reach; or the table whose they are."""
    circuit, views = compared.circuit, compared.views_reached(node)
    if views:
        return named_views(views)
    return "; ".join(f"table '{name}'" for name, i in circuit.sources.items() if node in circuit.reached(i))


def _unseen(compared: Comparison) -> Iterator[str]:
    """Rows that may be NULL where none is now, and that nothing holds to be looked at."""
    for name, table in compared.new.tables.items():
        before = compared.old.tables.get(name)
        columns = never_null(table, before) if before is not None else []
        if columns and compared.is_unseen(name):
            for column in columns:
                yield (
                    f"table '{name}': column '{column}' is never NULL now, and nothing holds the rows that "
                    "were, which may have none; leave it nullable and without a DEFAULT, or take a new state "
                    "directory"
                )


def _spelled_otherwise(compared: Comparison) -> Iterator[str]:
    """Names in another case: what is found by one in a query isn't by what a state holds."""
    old, new = compared.old.tables, compared.new.tables
    for name, was in _respelled(old, new):
        yield f"table '{name}' was '{was}', whose rows it would not have; spell it as it was"
    for table in old.keys() & new.keys():
        for name, was in _respelled(old[table].fields, new[table].fields):
            yield (
                f"table '{table}': column '{name}' was '{was}', whose values it would not have; spell it as "
                "it was"
            )


def _respelled(old: Collection[str], new: Collection[str]) -> Iterator[tuple[str, str]]:
    """(name, what it was) of those that are there in another case."""
    gone = {name.lower(): name for name in old if name not in new}
    yield from ((name, gone[name.lower()]) for name in new if name not in old and name.lower() in gone)


def _other_tables(compared: Comparison) -> Iterator[str]:
    for name, table in compared.new.tables.items():
        before = compared.old.tables.get(name)
        if before is None:
            continue
        if before.key != table.key and name not in compared.known.rekeyed:
            was = f"PRIMARY KEY ({', '.join(before.key)})" if before.key else "no PRIMARY KEY"
            yield (
                f"table '{name}' had {was}, and LATENESS, by which changes of its keys were left out; "
                "give it another name"
            )
        if before.lateness != table.lateness and is_late_otherwise(compared.program, compared.old, name):
            cure = "give the table another name, or a new state directory"
            if compared.before.format < FORMAT:
                cure = f"or make a step with '{compared.before.name}' first, which writes down what it is"
            yield (
                f"table '{name}' had LATENESS or WATERMARK of other columns, or LATENESS of percentiles, "
                f"by which rows were taken or left; {cure}"
            )


def _other_sources(compared: Comparison) -> Iterator[str]:
    """What has been read of a source is known by the table's name."""
    streams = compared.reading.streams if compared.last.batch is not None else {}
    for name, now in streams_of(compared.program).items():
        if was_read(compared.old, compared.last, name):
            yield f"{once_more(name)}; {_OTHER}"
        elif streams.get(name, now) != now:
            yield f"table '{name}' was read as {streams[name]}, and is read as {now}; {_OTHER}"


def once_more(table: str) -> str:
    """Why it can't be a stream, in words."""
    return f"table '{table}' has rows of its source from before, which as a stream would bring them once more"


def _other_emission(compared: Comparison) -> Iterator[str]:
    for view in compared.waited.keys() - compared.left.keys():
        yield (
            f"view '{view}' had another TRIGGER or EMIT, and what has left of it isn't held, or says "
            "which result it is; give the view another name"
        )


def _other_sinks(compared: Comparison) -> Iterator[str]:
    """A target that goes on must go on with the rows of what it has."""
    for target in dict.fromkeys(sink.target for sink in compared.new.sinks):
        if target in compared.beginning:
            path = local_target(compared.program.tables[target])
            if path is not None and (there := steps_in(path)):
                yield f"sink '{target}': {strangers(there, path, began_after(compared.last.step))}"
            continue
        cure = "insert into another table, with another path"
        now = [sink for sink in compared.new.sinks if sink.target == target]
        is_behind = compared.delivered.get(target, 0) < compared.last.step
        gone = {sink.view for sink in compared.old.sinks if sink.target == target}
        gone -= {was.view for sink in now if (was := compared.went_on[sink]) is not None}
        if gone:
            yield f"sink '{target}' holds rows of view '{min(gone)}'; {cure}"
            continue
        for sink in now:
            was = compared.went_on[sink]
            if was is None or was.form != sink.form:
                yield f"sink '{target}' holds rows that were written otherwise; {cure}"
            elif was.view == sink.view and sink.view in compared.changed.keys() - compared.left.keys():
                yield f"sink '{target}' holds rows of other columns of view '{sink.view}'; {cure}"
            elif is_behind and not _is_as_before(compared, sink.view):
                yield (
                    f"sink '{target}' hasn't got step {compared.last.step} yet, which is of the program "
                    f"before; open the state with '{compared.before.name}' once more"
                )


def _is_as_before(compared: Comparison, view: str) -> bool:
    return view in compared.old.views and view not in compared.changed | compared.waited


_OTHER = "give the table another name"
_BY_VALUE = (
    "say an order, as sort_array(collect_list(x)), listagg(x) WITHIN GROUP (ORDER BY x) or min_by(x, time) do"
)
_CURE = "take a new state directory, and feed it the tables from their start"
