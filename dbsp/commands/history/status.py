"""`dbsp status`: how a state stands, in lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from dbsp.commands.shown.steps import named_steps
from dbsp.history.status import Status, status_of
from dbsp.running.clock import spelled

_WIDTH = 9


def shown_status(state: str, output: str) -> Iterator[str]:
    """The lines. Raises StateError."""
    found = status_of(state)
    if output == "json":
        yield json.dumps(vars(found) | {"made": found.made.isoformat() if found.made else None})
        return
    for what, said in _lines(found):
        yield f"{what:<{_WIDTH}}{said}"


def _lines(found: Status) -> Iterator[tuple[str, str]]:
    yield "program", f"{found.program} ({found.fingerprint[:12]})"
    if not found.step:
        yield "step", "none yet"
    else:
        made = f", made {spelled(found.made)} UTC" if found.made else ""
        yield "step", f"{found.step}{made}"
        yield "kept", named_steps([*found.kept])
    yield from _each("table", found.tables)
    yield from _each("view", dict.fromkeys(found.views, ""))
    yield from _each("sink", {sink: _lag(found.step, has) for sink, has in found.sinks.items()})


def _each(what: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, said in names.items():
        yield what, f"{name}: {said}" if said else name


def _lag(last: int, has: int) -> str:
    if has >= last:
        return "has all steps"
    return f"lacks {named_steps([*range(has + 1, last + 1)])}"
