"""Delta tables of TPC-H's rows that change, and directories of the same files for who has no Delta.

Rows go from TPC-H's files to the tables a few at a time, so that any scale fits. What a round has is given by
its number, and each table's commit says the round: one that was cut is gone on with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from urllib.parse import unquote

import duckdb
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

FEED = {"delta.enableChangeDataFeed": "true"}
FIXED = ("region", "nation", "supplier", "customer", "part")
# of each source of changes the table that they are of, and the columns that they have
CHANGES = {
    "customer_changes": ("customer", ("c_custkey", "c_mktsegment", "c_acctbal")),
    "supplier_changes": ("supplier", ("s_suppkey", "s_nationkey", "s_acctbal")),
}
KEYS = {"customer": "c_custkey", "supplier": "s_suppkey", "part": "p_partkey"}
NAMES = (*FIXED, "orders", "lineitem", *CHANGES)
_BATCH = 1 << 16
_ROUND = "round"  # the application whose transactions are rounds


@dataclass
class Sources:
    """folder: of `delta/NAME` and `files/NAME`. made: of TPC-H's files. fractions: of the orders, that the
    rounds after the first bring; it has the others.
    """

    folder: Path
    made: Path
    fractions: Sequence[float]

    def make(self, round: int) -> int:
        """What comes in a round: orders with their line items, changes of customers and suppliers, and parts
        that are merged; in round 0 the first version of each table. Returns how many rows they have.
        """
        fraction = self.fractions[round - 1] if round else 1.0
        if round == 0:
            for name in FIXED:
                self._append(round, name, f"SELECT * FROM {self._rows(name)}")
        else:
            self._once(round, "part", lambda properties: self._merge_parts(round, fraction, properties))
        for name, key in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            self._append(round, name, f"SELECT * FROM {self._rows(name)} WHERE {self._comes(round, key)}")
        for name, (of, columns) in CHANGES.items():
            self._append(round, name, self._changes(round, self._some(round, fraction, of), columns))
        return self._count(round)

    def _count(self, round: int) -> int:
        """Of the last commits, which are the round's."""
        names = (name for name in NAMES if not round or name not in FIXED or name == "part")
        said = (DeltaTable(self._delta(name)).history(1)[0]["operationMetrics"] for name in names)
        return sum(int(found.get("num_added_rows", found.get("num_target_rows_updated"))) for found in said)

    def _comes(self, round: int, key: str) -> str:
        """A condition: whether an order comes in that round."""
        before = [0.0, *accumulate((1.0 - sum(self.fractions), *self.fractions))]
        low, high = (int(before[at] * (1 << 30)) for at in (round, round + 1))
        return f"hash({key}) >> 34 >= {low} AND hash({key}) >> 34 < {high}"

    def _some(self, round: int, fraction: float, name: str) -> str:
        """So many of a table's rows, others in each round."""
        with duckdb.connect() as asked:
            ((rows,),) = asked.execute(f"SELECT count(*) FROM {self._rows(name)}").fetchall()
        key, size = KEYS[name], max(1, int(rows * fraction))
        return f"(SELECT *, {key} AS k FROM {self._rows(name)} ORDER BY hash({key}, {round}) LIMIT {size})"

    def _changes(self, round: int, rows: str, columns: Sequence[str]) -> str:
        """One in a hundred is a delete."""
        key, named, balance = columns
        changed = f"CAST(hash(k, {round}, 1) % 1099800 / 100 - 999 AS DECIMAL(15, 2))"
        op = f"CASE WHEN {round} > 0 AND hash(k, {round}, 2) % 100 = 0 THEN 'd' ELSE 'u' END"
        return (
            f"SELECT {key}, {named}, {changed} AS {balance}, {op} AS op, {round}::BIGINT AS at "
            f"FROM {rows} ORDER BY {key}"
        )

    def _merge_parts(self, round: int, fraction: float, properties: CommitProperties) -> None:
        rows = (
            f"SELECT * EXCLUDE (k) REPLACE ('Brand#' || (hash(k, {round}, 3) % 45 + 11) AS p_brand) "
            f"FROM {self._some(round, fraction, 'part')}"
        )
        with duckdb.connect() as asked:
            DeltaTable(self._delta("part")).merge(
                asked.sql(rows).to_arrow_table(),
                "s.p_partkey = t.p_partkey",
                source_alias="s",
                target_alias="t",
                commit_properties=properties,
            ).when_matched_update_all().execute()

    def _append(self, round: int, name: str, query: str) -> None:
        def written(properties: CommitProperties) -> None:
            with duckdb.connect(config={"memory_limit": "2GB"}) as asked:
                write_deltalake(
                    self._delta(name),
                    asked.sql(query).to_arrow_reader(_BATCH),
                    mode="append",
                    configuration=FEED if name == "part" else {},
                    commit_properties=properties,
                )

        self._once(round, name, written)

    def _once(self, round: int, name: str, commit: Callable[[CommitProperties], None]) -> None:
        delta = self._delta(name)
        there = DeltaTable.is_deltatable(str(delta)) and DeltaTable(delta).transaction_version(_ROUND)
        if there is False or there is None or there < round:
            commit(CommitProperties(app_transactions=[Transaction(_ROUND, round)]))
        self._mirror(name)

    def _rows(self, name: str) -> str:
        return f"read_parquet('{self.made}/{name}.parquet')"

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
