"""TPC-H's tables, generated on the spot, and changes of them that are the same for the same seed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import dbsp

PROGRAM = Path(__file__).with_name("program.sql")
KEYS = {
    "region": ["r_regionkey"],
    "nation": ["n_nationkey"],
    "supplier": ["s_suppkey"],
    "customer": ["c_custkey"],
    "part": ["p_partkey"],
    "partsupp": ["ps_partkey", "ps_suppkey"],
    "orders": ["o_orderkey"],
    "lineitem": ["l_orderkey", "l_linenumber"],
}


def tables(directory: Path, scale: float) -> dict[str, pa.Table]:
    """The tables at a scale, kept as Parquet in `directory`, and beside it as Arrow files, which are mapped:
    what memory a process has of its own is not the workload's.
    """
    generate(directory, scale)
    return {name: _mapped(directory / f"{name}.parquet") for name in KEYS}


def generate(directory: Path, scale: float) -> None:
    """NAME.parquet of each table in `directory`, unless they are there."""
    directory.mkdir(parents=True, exist_ok=True)
    if not all((directory / f"{name}.parquet").exists() for name in KEYS):
        tool = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or "tpchgen-cli"
        subprocess.run(
            [tool, "parquet", "-s", str(scale), "--overwrite", "--output-dir", str(directory)],
            check=True,
            capture_output=True,
        )


def _mapped(parquet: Path) -> pa.Table:
    """Strings are as Spark's readers give them, not views."""
    file = parquet.with_suffix(".arrow")
    if not file.exists():
        source, written = pq.ParquetFile(parquet), file.with_suffix(".tmp")
        fields = [
            field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field
            for field in source.schema_arrow
        ]
        schema = pa.schema(fields)
        with pa.ipc.new_file(written, schema) as out:
            for batch in source.iter_batches(1 << 17):
                out.write_batch(batch.cast(schema))
        written.rename(file)
    return pa.ipc.open_file(pa.memory_map(str(file))).read_all()


@dataclass(frozen=True)
class Change:
    """upserts: whole rows. deletes: keys."""

    upserts: pa.Table
    deletes: pa.Table


Delta = dict[str, Change]


def queue(pipeline: dbsp.Pipeline, delta: Delta) -> None:
    """The pipeline's next changes; deletes come first, so that an upsert of the same key wins."""
    for name, change in delta.items():
        if len(change.deletes):
            pipeline.delete(name, change.deletes)
        if len(change.upserts):
            pipeline.upsert(name, change.upserts)


class Workload:
    """What the tables hold, and the next changes of them. `held` of the orders come in later.

    Rows stay where they are mapped: of each that there ever was it's kept whether it is there.
    """

    def __init__(self, tables: dict[str, pa.Table], held: float = 0.05, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._rows = dict(tables)
        self._there = {name: np.zeros(len(table), dtype=np.bool_) for name, table in tables.items()}
        later = self._random.random(len(tables["orders"])) < held
        self._waiting = np.flatnonzero(later)
        of_later = self._of_orders(tables["orders"].filter(pa.array(later)))
        self._first = {name: ~there for name, there in self._there.items()}
        self._first |= {"orders": ~later, "lineitem": ~of_later}
        # at scales far below 1 a part has a supplier twice
        self._first["partsupp"][:] = False
        self._first["partsupp"][_last_of_keys("partsupp", tables["partsupp"])] = True
        self._victims: dict[str, pa.Table] = {}

    @property
    def contents(self) -> dict[str, pa.Table]:
        return {name: table.filter(pa.array(self._there[name])) for name, table in self._rows.items()}

    def load(self, chunks: int) -> Iterator[Delta]:
        """The initial rows, a share of every table a step."""
        for i in range(chunks):
            delta = {}
            for name, first in self._first.items():
                rows = np.flatnonzero(first)
                part = self._come(name, rows[len(rows) * i // chunks : len(rows) * (i + 1) // chunks])
                delta[name] = Change(part, part.select(KEYS[name]).slice(0, 0))
            yield delta

    def refresh(self, count: int) -> Delta:
        """RF1 and RF2 in one step: `count` new orders with their line items, and as many deleted."""
        assert len(self._waiting) >= count, "no more orders are held back"
        held = np.flatnonzero(self._there["orders"])
        new, self._waiting = self._come("orders", self._waiting[:count]), self._waiting[count:]
        old = self._go("orders", np.sort(self._random.choice(held, count, replace=False)))
        lines = np.flatnonzero(self._of_orders(new))
        old_lines = np.flatnonzero(self._of_orders(old) & self._there["lineitem"])
        return {
            "orders": Change(new, old),
            "lineitem": Change(self._come("lineitem", lines), self._go("lineitem", old_lines)),
        }

    def mixed(self, share: float) -> Delta:
        """In every table `share` of the rows deleted, as many changed, and those of the last time restored.

        A changed row takes every column from a row of its own table, so that foreign keys lead somewhere.
        """
        delta = {}
        for name, table in self.contents.items():
            count = max(1, int(share * len(table)))
            victims = table.take(pa.array(self._random.choice(len(table), 2 * count, replace=False)))
            gone, changed = victims.slice(0, count), victims.slice(count)
            for i, field in enumerate(table.schema):
                if field.name not in KEYS[name]:
                    source = pa.array(self._random.integers(0, len(table), count))
                    changed = changed.set_column(i, field, table.column(i).take(source))
            # the last change of a key wins: a row that is restored and changed is changed
            restored = self._victims.get(name, table.slice(0, 0))
            delta[name] = Change(pa.concat_tables([restored, changed]), gone.select(KEYS[name]))
            self._victims[name] = victims
            self._apply(name, delta[name])
        return delta

    def _of_orders(self, orders: pa.Table) -> np.ndarray:
        """bool[n]: the line items, there or not, of these orders."""
        found = pc.is_in(self._rows["lineitem"]["l_orderkey"], orders["o_orderkey"].combine_chunks())
        return np.asarray(found.to_numpy())

    def _come(self, name: str, positions: np.ndarray) -> pa.Table:
        """The rows at ascending positions, which are there now."""
        self._there[name][positions] = True
        return _rows_at(self._rows[name], positions)

    def _go(self, name: str, positions: np.ndarray) -> pa.Table:
        """Their keys, which are there no longer."""
        self._there[name][positions] = False
        return _rows_at(self._rows[name].select(KEYS[name]), positions)

    def _apply(self, name: str, change: Change) -> None:
        """Of rows that no table had at first."""
        key, there = KEYS[name], np.flatnonzero(self._there[name])
        rows = change.upserts.take(pa.array(_last_of_keys(name, change.upserts)))
        touched = pa.concat_tables([rows.select(key), change.deletes]).group_by(key).aggregate([])
        left = _rows_at(self._rows[name].select(key), there).append_column("at", pa.array(there))
        gone = left.join(touched, key, join_type="left semi")["at"].to_numpy()
        self._there[name][gone] = False
        self._there[name] = np.append(self._there[name], np.ones(len(rows), dtype=np.bool_))
        self._rows[name] = pa.concat_tables([self._rows[name], rows])


def _last_of_keys(name: str, rows: pa.Table) -> np.ndarray:
    """Positions, ascending, of the last row of each key of a table."""
    numbered = rows.select(KEYS[name]).append_column("at", pa.array(np.arange(len(rows))))
    last = numbered.group_by(KEYS[name]).aggregate([("at", "max")])["at_max"].to_numpy()
    return np.asarray(np.sort(last))  # groups come in any order


def _rows_at(table: pa.Table, positions: np.ndarray) -> pa.Table:
    """The rows at ascending positions; only they are read."""
    parts, begin = [table.schema.empty_table()], 0
    for batch in table.to_batches():
        first, last = np.searchsorted(positions, [begin, begin + len(batch)])
        if first < last:
            taken = batch.take(pa.array(positions[first:last] - begin))
            parts.append(pa.Table.from_batches([taken]))
        begin += len(batch)
    return pa.concat_tables(parts).combine_chunks()
