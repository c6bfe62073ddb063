from __future__ import annotations

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from dbsp.declared.logs.delta import DeltaLog
from dbsp.declared.project.datasets import Logged
from dbsp.declared.remembered.logged import LoggedSource
from dbsp.declared.remembered.source import Unknown

SCHEMA = pa.schema([("a", pa.int64())])


def written(place, *values, **options):
    write_deltalake(place, pa.table({"a": values}, schema=SCHEMA), mode="append", **options)


@pytest.fixture
def source(tmp_path):
    written(tmp_path, 1, 2)
    return LoggedSource("t", Logged("delta", str(tmp_path)), SCHEMA, DeltaLog("t", str(tmp_path)).schema())


def known(source):
    return DeltaLog("t", source.table.place).look(SCHEMA, False, {}, False).now


def test_what_has_come(source, tmp_path):
    before = known(source)
    written(tmp_path, 3)
    DeltaTable(tmp_path).delete("a = 1")
    arrived, size = source.news(False, before)
    assert (arrived.how, size > 0) == ("changed", True)
    assert sorted(arrived.rows()["a"].to_pylist()) == [2, 3]
    assert sorted(arrived.gone()["a"].to_pylist()) == [1, 2]
    source.check_there()


def test_what_is_left_to_spark(source, tmp_path):
    before = known(source)
    with pytest.raises(Unknown):  # a first look reads all of it
        source.news(False, {})
    more = pa.table({"a": [1], "b": [2]})
    write_deltalake(tmp_path, more, mode="append", schema_mode="merge")
    with pytest.raises(Unknown):  # the project may say other things now
        source.news(False, before)
    with pytest.raises(Unknown):
        source.check_there()


def test_what_is_wrong_is_said_by_spark(source, tmp_path):
    before = known(source)
    DeltaTable(tmp_path).delete("a = 1")
    with pytest.raises(Unknown):
        source.news(True, before)
