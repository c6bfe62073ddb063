"""Commits to an Iceberg table: upon the snapshot that was read, and tried once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyiceberg.table import Table

# what a commit says of itself
WRITER, STEP = "dbsp.writer", "dbsp.step"
# of pyiceberg; a property of the table, of which a copy says otherwise
_RETRIES = "commit.retry.num-retries"


def once(table: Table) -> Table:
    """The same, whose commits aren't tried again upon another snapshot."""
    table.metadata.properties[_RETRIES] = "0"
    return table
