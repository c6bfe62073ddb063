"""Whether tables have the same rows, by DuckDB over their files."""

from __future__ import annotations

from pathlib import Path

import duckdb


def same(ours: list[str], theirs: list[str], scratch: Path) -> bool:
    """Whether files of two tables have the same rows, but for what only AUTO CDC keeps.

    As bags: their sizes, and the sums of their rows' 64-bit hashes. That takes no memory, at any size.
    """
    with duckdb.connect(config={"memory_limit": "2GB", "temp_directory": str(scratch)}) as asked:
        found = []
        for files in (ours, theirs):
            rows = f"read_parquet({files!r}, union_by_name=true, hive_partitioning=true)"
            columns = sorted(row[:2] for row in asked.execute(f"DESCRIBE SELECT * FROM {rows}").fetchall())
            shown = [column for column in columns if not column[0].startswith("__spark_autocdc")]
            hashed = ", ".join(f'"{name}"' for name, _ in shown)
            query = f"SELECT count(*), sum(CAST(hash({hashed}) AS HUGEINT)) FROM {rows}"
            found.append((shown, asked.execute(query).fetchall()))
        return found[0] == found[1]
