"""Delta tables of TPC-H's rows that change, and directories of the same files for who has no Delta."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

FEED = {"delta.enableChangeDataFeed": "true"}
# of each source of changes the table that they are of, and the columns that they have
CHANGES = {
    "customer_changes": ("customer", ("c_custkey", "c_mktsegment", "c_acctbal")),
    "supplier_changes": ("supplier", ("s_suppkey", "s_nationkey", "s_acctbal")),
}


@dataclass
class Sources:
    """folder: of `delta/NAME` and `files/NAME`. made: TPC-H's tables, orders in the order that they come."""

    folder: Path
    made: dict[str, pa.Table]
    given: int = 0
    round: int = 0
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def create(self, orders: int) -> int:
        """The first version of each table; returns how many rows they have."""
        for name in self.made.keys() - {"orders", "lineitem"}:
            self._append(name, self.made[name], FEED if name == "part" else {})
        rows = sum(len(self.made[name]) for name in self.made.keys() - {"orders", "lineitem"})
        return rows + self._add_orders(orders) + self._change(1.0)

    def add(self, fraction: float) -> int:
        """Orders with their line items come, customers and suppliers have changes, parts are merged."""
        self.round += 1
        rows = self._add_orders(int(len(self.made["orders"]) * fraction)) + self._change(fraction)
        return rows + self._merge_parts(fraction)

    def _add_orders(self, count: int) -> int:
        orders = self.made["orders"].slice(self.given, count)
        self.given += count
        items = self.made["lineitem"]
        items = items.filter(pc.is_in(items["l_orderkey"], orders["o_orderkey"]))
        self._append("orders", orders)
        self._append("lineitem", items)
        return len(orders) + len(items)

    def _change(self, fraction: float) -> int:
        """One in a hundred is a delete."""
        total = 0
        for name, (of, columns) in CHANGES.items():
            rows = self._some(self.made[of], fraction).select(columns)
            balance = pa.array(np.round(self.random.uniform(-999, 9999, len(rows)), 2)).cast(
                rows.schema.types[2]
            )
            deleted = self.random.random(len(rows)) < (0.01 if self.round else 0)
            rows = rows.set_column(2, columns[2], balance)
            rows = rows.append_column("op", pa.array(np.where(deleted, "d", "u").astype(object), pa.string()))
            self._append(name, rows.append_column("at", pa.array([self.round] * len(rows), pa.int64())))
            total += len(rows)
        return total

    def _merge_parts(self, fraction: float) -> int:
        rows = self._some(self.made["part"], fraction)
        brands = pa.array([f"Brand#{number}" for number in self.random.integers(11, 56, len(rows))])
        rows = rows.set_column(rows.schema.get_field_index("p_brand"), "p_brand", brands)
        merging = DeltaTable(self._delta("part")).merge(
            rows, "s.p_partkey = t.p_partkey", source_alias="s", target_alias="t"
        )
        merging.when_matched_update_all().execute()
        self._mirror("part")
        return len(rows)

    def _some(self, table: pa.Table, fraction: float) -> pa.Table:
        count = max(1, int(len(table) * fraction))
        return table.take(pa.array(np.sort(self.random.choice(len(table), count, replace=False))))

    def _append(self, name: str, rows: pa.Table, configuration: dict[str, str] | None = None) -> None:
        write_deltalake(self._delta(name), rows, mode="append", configuration=configuration)
        self._mirror(name)

    def _delta(self, name: str) -> Path:
        return self.folder / "delta" / name

    def _mirror(self, name: str) -> None:
        """The directory has the files of the table's last version, and no others; each is there once."""
        folder = self.folder / "files" / name
        folder.mkdir(parents=True, exist_ok=True)
        added = pa.table(DeltaTable(self._delta(name)).get_add_actions())["path"].to_pylist()
        wanted = set(map(unquote, added))
        for file in folder.iterdir():
            if file.name not in wanted:
                file.unlink()
        for path in wanted:
            if not (folder / path).exists():
                (folder / path).hardlink_to(self._delta(name) / path)
