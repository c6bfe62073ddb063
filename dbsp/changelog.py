"""A pipeline's changes as lines of text, the same bytes however the steps were run.

    {"step": 1, "view": "stories_vc", "row": {"story_id": 1, "vcount": 2}, "weight": 1}

One line per changed row, ordered by step, view, row (see `dbsp.sorting`) and weight; values as in
`dbsp.json_values`. Text, for people: `step 1`, then `  stories_vc  +1  story_id=1 vcount=2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from json.encoder import encode_basestring

from circuits.json_text import encode
from dbsp.changes import Changes, ViewChanges

_BARE = re.compile(r'"([^\s"\\=,\[\]{}]+)"')
_WORDS = {"true", "false", "null", "NULL"}


def json_lines(changes: Changes) -> Iterator[str]:
    """One line per changed row, without line ends."""
    for view in sorted(changes):
        yield from json_lines_of_view(changes.step, changes[view])


def json_lines_of_view(step: int, changes: ViewChanges) -> Iterator[str]:
    if not len(changes):
        return
    names = [encode_basestring(name) for name in changes.zset.schema.names]
    head = f'{{"step": {step}, "view": {encode_basestring(changes.view)}, "row": {{'
    columns = [encode(column) for column in changes.zset.rows.columns]
    for *values, weight in zip(*columns, changes.zset.weights.tolist(), strict=True):
        row = ", ".join([f"{name}: {value}" for name, value in zip(names, values, strict=True)])
        yield f'{head}{row}}}, "weight": {weight}}}'


def text_lines(changes: Changes) -> Iterator[str]:
    """The step, then a line per changed row."""
    yield f"step {changes.step}"
    for view in sorted(changes):
        delta = changes[view]
        names = delta.zset.schema.names
        columns = [encode(column) for column in delta.zset.rows.columns]
        for *values, weight in zip(*columns, delta.zset.weights.tolist(), strict=True):
            row = " ".join(f"{name}={_plain(value)}" for name, value in zip(names, values, strict=True))
            yield f"  {view}  {weight:+d}  {row}"


def _plain(value: str) -> str:
    """JSON without the quotes where nothing could be mistaken for anything else."""
    if value == "null":
        return "NULL"
    match = _BARE.fullmatch(value)
    return match[1] if match and match[1] not in _WORDS else value
