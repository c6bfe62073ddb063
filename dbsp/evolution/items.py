"""What becomes of a program's tables, views and sinks as it changes, in words."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.evolution.comparison import Comparison
from dbsp.evolution.given import is_wider
from dbsp.evolution.plan import DROPPED, FILLED, KEPT, NEW, Item
from dbsp.evolution.rules import new_checks
from dbsp.sql.plans.collations import column_of
from dbsp.state.records.manifest import Shown
from dbsp.state.records.reading import streams_of


def items_of(compared: Comparison) -> Iterator[Item]:
    yield from _tables(compared)
    yield from _views(compared)
    yield from _sinks(compared)


def _tables(compared: Comparison) -> Iterator[Item]:
    for name, table in compared.new.tables.items():
        if name not in compared.old.tables:
            yield Item("table", name, NEW)
            continue
        before = compared.old.tables[name].fields
        added = [column for column in table.fields if column not in before]
        gone = [column for column in before if column not in table.fields]
        shared = [c for c in table.fields if c in before]
        other = [c for c in shared if column_of(before[c]).ddl != column_of(table.fields[c]).ddl]
        wider = [c for c in other if is_wider(before[c].type, table.fields[c].type)]
        other = [c for c in other if c not in wider]
        said = [("with", added), ("without", gone), ("wider", wider), ("of another type", other)]
        whys = [f"{word} {', '.join(columns)}" for word, columns in said if columns]
        if before_ := _redeclared(compared, name):
            whys.append(before_)
        whys += _read_otherwise(compared, name)
        whys += [f"its {compared.read_of(name)} are read again"] if name in compared.filling[1].again else []
        yield Item("table", name, KEPT, ", ".join(whys))
    for name in compared.old.tables:
        if name not in compared.new.tables:
            yield Item("table", name, DROPPED)


def _read_otherwise(compared: Comparison, name: str) -> Iterator[str]:
    """That what a table is read from comes, or goes."""
    before, now = compared.reading.streams, streams_of(compared.program)
    if name in now.keys() - before.keys():
        yield f"read as {now[name]}, from its source's beginning on"
    elif name in before.keys() - now.keys() and not compared.program.inputs[name].is_snapshot:
        yield "without its source from now on"


def _redeclared(compared: Comparison, name: str) -> str:
    """What else is said of a table than was, in words."""
    table, before = compared.new.tables[name], compared.old.tables[name]
    said = []
    if before.key != table.key:
        key = f"the key is {', '.join(table.key)}" if table.key else "without a key"
        said.append(key + (", by which its rows must be apart" if table.key else ""))
    if before.lateness != table.lateness:
        said.append("of another LATENESS or WATERMARK from its next row on")
    checks = new_checks(compared.program.inputs[name], table, before)
    rows = "its rows are looked at"
    if checks and compared.is_unseen(name):
        rows = "rows are looked at that come from now on, as nothing holds its others"
    said += [f"{check.said}, by which {rows}" for check in checks]
    other = [c for c in table.computed if c in before.fields and table.computed[c] != before.column(name, c)]
    said += [f"{', '.join(other)} computed otherwise"] if other else []
    return ", ".join(said)


def _views(compared: Comparison) -> Iterator[Item]:
    for view, shown in compared.new.views.items():
        yield Item("view", view, KEPT if shown.kept in compared.kept else FILLED, _why(compared, view, shown))
    goes_on = {shown.kept for shown in compared.new.views.values()}
    for view, shown in compared.old.views.items():
        if view not in compared.new.views and shown.kept not in goes_on:
            yield Item("view", view, DROPPED)


def _why(compared: Comparison, view: str, shown: Shown) -> str:
    was = compared.old.views.get(view)
    if was is not None and (was.emits or shown.emits) and was.changes != shown.changes:
        rest = "what waits leaves now" if was.emits else "all of it has left"
        return f"of another TRIGGER or EMIT from its next row on, {rest}"
    if view in compared.changed:
        return "it is computed otherwise"
    before = compared.old.triggers.get(view)
    if before is not None and before != compared.after.manifest.triggers.get(view, before):
        return "of another TRIGGER from its next row on"
    if view not in compared.old.views:
        as_ = next((name for name, one in compared.old.views.items() if one.kept == shown.kept), None)
        return "new" if as_ is None else f"was '{as_}'" if as_ not in compared.new.views else f"as '{as_}'"
    below = any(view in compared.circuit.views_of(node) for node in compared.missing)
    return "what it is computed with is back-filled" if below else ""


def _sinks(compared: Comparison) -> Iterator[Item]:
    now = dict.fromkeys(sink.target for sink in compared.new.sinks)
    for target in now:
        if target in compared.beginning:
            path = compared.anew.get(target)
            elsewhere = "" if path is None else f"is written to {path} from now on, "
            yield Item("sink", target, NEW, f"{elsewhere}gets what its view holds, and then every change")
        else:
            yield Item("sink", target, KEPT)
    for target in sorted(compared.old.targets - now.keys()):
        yield Item("sink", target, DROPPED)
