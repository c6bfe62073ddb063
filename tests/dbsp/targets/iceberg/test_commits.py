"""A commit upon a snapshot that isn't the last any more is refused, and not tried again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException

from dbsp.targets.iceberg.commits import once


def test_it_isnt_tried_again(tmp_path: Path) -> None:
    rows = pa.table({"n": [1]})
    catalog = load_catalog("c", type="sql", uri=f"sqlite:///{tmp_path}/c.db", warehouse=f"file://{tmp_path}")
    catalog.create_namespace("a")
    table = once(catalog.create_table("a.t", rows.schema))
    catalog.load_table("a.t").append(rows)
    with pytest.raises(CommitFailedException):
        table.append(rows)
    assert catalog.load_table("a.t").scan().count() == 1
