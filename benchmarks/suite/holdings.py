"""What a state takes on disk, and what the same rows would take as Parquet."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import dbsp
from dbsp.circuits.steps.contents import open_chunk
from dbsp.circuits.traces.batch import Batch


def on_disk(pipeline: dbsp.Pipeline) -> int:
    """Bytes of the state's directory, with the steps that are kept."""
    root = Path(str(pipeline.store.root))
    return sum(path.stat().st_size for path in root.rglob("*") if path.is_file())


def as_parquet(pipeline: dbsp.Pipeline) -> int:
    """Bytes of the rows of all traces and logs, each of them one file of Parquet as Arrow writes it.

    Makes an empty step.
    """
    circuit, segments = pipeline.program.circuit, pipeline.store.segments
    state = pipeline.step().metrics.state
    size = 0
    for node in (*circuit.layouts, *circuit.logs):
        batches = [open_chunk(circuit, node, chunk, segments) for chunk in state.spines[node].live]
        rows = sum(len(batch) for batch in batches)
        if rows:
            sink = BytesIO()
            pq.write_table(_rows(batches), sink)
            size += sink.tell()
    return size


def _rows(batches: list[Batch]) -> pa.Table:
    return pa.Table.from_batches([batch.rows for batch in batches])
