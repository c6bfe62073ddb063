"""Random rows of a table with a log, as bags."""

from __future__ import annotations

import json
from collections import Counter

import pyarrow as pa

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])


def drawn(random_, count=3):
    keys = [random_.randrange(6) for _ in range(count)]
    return pa.table({"k": keys, "s": [random_.choice(["a", "b c/", None]) for _ in keys]}, schema=SCHEMA)


def check_adds_up(look, there, change, times):
    """look: at what has come since; there: what the table holds; change: it, somehow."""
    known, held = {}, Counter()
    for _ in range(times):
        changed = look(known)
        known = json.loads(json.dumps(changed.now))
        held += counted(changed.added.table())
        held.subtract(counted(changed.gone.table()))
        assert +held == counted(there())
        assert min(held.values(), default=0) >= 0
        change()


def counted(table):
    return Counter(zip(table["k"].to_pylist(), table["s"].to_pylist(), strict=True))
