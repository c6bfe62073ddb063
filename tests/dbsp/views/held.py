"""Contents of any schema, in parts, as those of a pipeline's view without a key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dbsp.circuits.segments.chunk import Chunk
from dbsp.circuits.traces.zset import ZSet
from dbsp.views.search import Indexes
from dbsp.views.view import Contents
from tests.dbsp.build import votes_program


def contents(schema: pa.Schema, parts: list[list[tuple[Any, int]]]) -> Contents:
    """parts: each as rows and weights."""
    zsets = [_part(schema, changes) for changes in parts]
    chunks = [Chunk(str(i), 0, 0, len(zset)) for i, zset in enumerate(zsets)]
    return Contents("all_votes", schema, zsets, chunks=chunks, indexes=Indexes(votes_program()))


def _part(schema: pa.Schema, changes: list[tuple[Any, int]]) -> ZSet:
    columns = [pa.array([row[i] for row, _ in changes], field.type) for i, field in enumerate(schema)]
    weights = np.array([weight for _, weight in changes], np.int64)
    return ZSet(pa.RecordBatch.from_arrays(columns, schema=schema), weights)
