"""Which catalog, and what it is given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbsp.targets.iceberg.catalog import catalog_of
from tests.dbsp.build import VOTES, table


def test_what_says_the_table_is_no_setting_of_its_catalog(tmp_path: Path) -> None:
    given = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "Table": "a.b"}
    named = replace(table("t", VOTES), options={**given, "catalog": "others"})
    assert catalog_of(named).name == "others"
    assert catalog_of(replace(named, options=given)).name == "dbsp"
    assert "Table" not in catalog_of(named).properties
