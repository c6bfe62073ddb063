"""What is remembered is known while the catalogue is the same, and no longer."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dbsp.declared.project.datasets import MATERIALIZED_VIEW, Table
from dbsp.declared.project.program import Compiled
from dbsp.declared.remembered import remembered
from dbsp.declared.remembered.catalogue import Catalogue
from dbsp.declared.remembered.parquet_files import ParquetFiles
from dbsp.declared.remembered.remembered import Remembered, Remembering, recall, remember
from dbsp.sql.plans.nodes import Scan
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.source import as_it_is
from tests.dbsp.build import program, table, view
from tests.dbsp.declared.made import dataset, project

KEY = as_it_is("a key", "key")
FIELDS = (Field("a", pa.int64()),)
PROGRAM = program([table("t", FIELDS)], [view("v", Scan("t", FIELDS))])


@pytest.fixture
def made(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    metastore, files = tmp_path / "metastore_db", tmp_path / "files"
    metastore.mkdir()
    files.mkdir()
    catalogue = Catalogue(metastore)
    source = ParquetFiles(files, f"file://{files}", pa.schema([("a", pa.int64())]), None)
    given = project(dataset("v", MATERIALIZED_VIEW), tables=[Table("`t`", "a BIGINT", False)])
    return Remembered(
        given, Compiled(PROGRAM, {}), catalogue, catalogue.digest(), {"`t`": source}, {"v": tmp_path}
    )


def test_it_is_known_until_the_catalogue_is_another(made):
    assert recall(KEY) is None
    remember(KEY, made)
    found = recall(KEY)
    assert (found.project, found.sources, found.places) == (made.project, made.sources, made.places)
    assert recall(as_it_is("another key", "key")) is None
    (made.catalogue.metastore / "log").write_text("more")
    assert recall(KEY) is None


def test_what_has_come_is_known_if_it_is_little(made, monkeypatch):
    def known():
        return Remembering(made, lambda: None).knows({})

    assert known()
    pq.write_table(pa.table({"a": [1, 2]}), made.sources["`t`"].root / "part-1.parquet")
    assert known()
    around = Remembering(made, lambda: None)
    assert around.knows({})
    arrived = around.look(made.project.tables[0], pa.schema([]), {}, compared=False)
    assert (arrived.how, arrived.rows().to_pydict()) == ("appended", {"a": [1, 2]})
    monkeypatch.setattr(remembered, "LARGE", 10)
    assert not known()


def test_a_directory_that_is_gone_isnt_known(made, tmp_path):
    made.places["v"] = tmp_path / "gone"
    assert not Remembering(made, lambda: None).knows({})
