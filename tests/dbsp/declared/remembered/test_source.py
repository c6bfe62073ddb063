"""Both kinds of sources that are read without Spark say the same of the same rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import write_deltalake

from dbsp.declared.logs.delta import DeltaLog
from dbsp.declared.project.datasets import Logged
from dbsp.declared.remembered.logged import LoggedSource
from dbsp.declared.remembered.parquet_files import ParquetFiles
from dbsp.declared.remembered.source import Source

SCHEMA = pa.schema([("a", pa.int64())])


def heard(source: Source, add):
    source.check_there()
    log = DeltaLog("t", source.table.place) if isinstance(source, LoggedSource) else None
    before = source.listed() if log is None else log.look(SCHEMA, False, {}, False).now
    nothing, none = source.news(False, before)
    add(2)
    some, size = source.news(False, before)
    assert (none, size > 0) == (0, True)
    return nothing.how, some.how, some.rows().to_pylist(), some.gone


def test_the_same_is_heard_of_both(tmp_path):
    files, table = tmp_path / "files", tmp_path / "table"
    files.mkdir()

    def add_file(number):
        pq.write_table(pa.table({"a": [number]}), files / f"part-{number}.parquet")

    def add_commit(number):
        write_deltalake(table, pa.table({"a": [number]}, schema=SCHEMA), mode="append")

    add_file(1)
    add_commit(1)
    by_files = ParquetFiles(files, f"file://{files}", SCHEMA, None)
    by_log = LoggedSource("t", Logged("delta", str(table)), SCHEMA, DeltaLog("t", str(table)).schema())
    assert (
        heard(by_files, add_file) == heard(by_log, add_commit) == ("unchanged", "appended", [{"a": 2}], None)
    )
