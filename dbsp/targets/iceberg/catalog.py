"""The catalog that a table of Iceberg's is in: what OPTIONS say beside `table` is pyiceberg's.

`catalog` is its name, which a catalog in a database keeps tables apart by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dbsp.sql.plans.program import Table

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog

# namespace.name
TABLE = "table"
_CATALOG, _USUAL = "catalog", "dbsp"


def catalog_of(table: Table) -> Catalog:
    """Raises what pyiceberg does where it can't be reached."""
    from pyiceberg.catalog import load_catalog  # noqa: PLC0415  an extra

    own = (TABLE, _CATALOG)
    settings = {name: value for name, value in table.options.items() if name.lower() not in own}
    return load_catalog(table.option(_CATALOG, _USUAL), **settings)
