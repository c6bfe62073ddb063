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
    """The tables at a scale, kept as Parquet in `directory`."""
    generate(directory, scale)
    return {name: _plain(pq.read_table(directory / f"{name}.parquet")) for name in KEYS}


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


def _plain(table: pa.Table) -> pa.Table:
    """Strings as Spark's readers give them, not as views."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_string_view(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


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
    """What the tables hold, and the next changes of them. `held` of the orders come in later."""

    def __init__(self, tables: dict[str, pa.Table], held: float = 0.05, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        orders = tables["orders"]
        later = self._random.random(len(orders)) < held
        self._waiting = {"orders": orders.filter(pa.array(later))}
        of_later = pc.is_in(tables["lineitem"]["l_orderkey"], self._waiting["orders"]["o_orderkey"])
        self._waiting["lineitem"] = tables["lineitem"].filter(of_later)
        self._first = {
            **tables,
            "orders": orders.filter(pa.array(~later)),
            "lineitem": tables["lineitem"].filter(pc.invert(of_later)),
        }
        self._victims: dict[str, pa.Table] = {}
        self.contents = {name: table.slice(0, 0) for name, table in tables.items()}

    def load(self, chunks: int) -> Iterator[Delta]:
        """The initial rows, a share of every table a step."""
        for i in range(chunks):
            parts = {
                name: table.slice(
                    len(table) * i // chunks, len(table) * (i + 1) // chunks - len(table) * i // chunks
                )
                for name, table in self._first.items()
            }
            yield self._applied(
                {name: Change(part, part.select(KEYS[name]).slice(0, 0)) for name, part in parts.items()}
            )

    def refresh(self, count: int) -> Delta:
        """RF1 and RF2 in one step: `count` new orders with their line items, and as many deleted."""
        new = self._waiting["orders"].slice(0, count)
        assert len(new) == count, "no more orders are held back"
        self._waiting["orders"] = self._waiting["orders"].slice(count)
        lines = self._waiting["lineitem"]
        new_lines = lines.filter(pc.is_in(lines["l_orderkey"], new["o_orderkey"]))
        held = self.contents["orders"]
        old = held.take(pa.array(self._random.choice(len(held), count, replace=False)))
        there = self.contents["lineitem"]
        old_lines = there.filter(pc.is_in(there["l_orderkey"], old["o_orderkey"]))
        return self._applied(
            {
                "orders": Change(new, old.select(KEYS["orders"])),
                "lineitem": Change(new_lines, old_lines.select(KEYS["lineitem"])),
            }
        )

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
        return self._applied(delta)

    def _applied(self, delta: Delta) -> Delta:
        for name, change in delta.items():
            key = KEYS[name]
            positions = np.arange(len(change.upserts))
            numbered = change.upserts.select(key).append_column("at", pa.array(positions))
            last = numbered.group_by(key).aggregate([("at", "max")])["at_max"].to_numpy()
            rows = change.upserts.take(pa.array(np.sort(last)))  # groups come in any order
            touched = pa.concat_tables([rows.select(key), change.deletes])
            kept = self._without(self.contents[name], touched, key)
            self.contents[name] = pa.concat_tables([kept, rows]).combine_chunks()
        return delta

    @staticmethod
    def _without(table: pa.Table, keys: pa.Table, key: list[str]) -> pa.Table:
        if not len(keys) or not len(table):
            return table
        left = table.select(key).append_column("at", pa.array(np.arange(len(table))))
        kept = left.join(keys.group_by(key).aggregate([]), key, join_type="left anti")["at"]
        return table.take(pa.array(np.sort(kept.to_numpy())))  # a join has no order
