"""Random rows of a table with a log, as bags."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])


def drawn(random_, count=3):
    keys = [random_.randrange(6) for _ in range(count)]
    return pa.table({"k": keys, "s": [random_.choice(["a", "b c/", None]) for _ in keys]}, schema=SCHEMA)


def counted(table):
    return Counter(zip(table["k"].to_pylist(), table["s"].to_pylist(), strict=True))
