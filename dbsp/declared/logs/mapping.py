"""Column mapping of Delta tables: the names that columns have in files, which stay when others are given.

Of a version that was read a CRC-32 of both names of each column is known. One that isn't among those of a
later version was renamed or dropped: then what was read isn't what the table holds under these names.

Delta transaction protocol, "Column Mapping", by name; by field ids is another mode, which isn't read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from dbsp.circuits.errors import StateError
from dbsp.declared.logs.changed import Lost

MODE, MODES = "delta.columnMapping.mode", ("none", "name")
_STORED = "delta.columnMapping.physicalName"


def stored_names(name: str, table: Any) -> dict[str, str]:
    """By column; nothing of a table whose columns are stored under their names. Raises StateError.

    name: of the table, for people. table: delta-rs's.
    """
    if (table.metadata().configuration.get(MODE) or MODES[0]) == MODES[0]:
        return {}
    found = {}
    for each in json.loads(table.schema().to_json())["fields"]:
        if "struct" in json.dumps(each["type"]):
            raise StateError(
                f"table {name}: not supported yet: column '{each['name']}' with fields, in a table with "
                "column mapping; read a copy without"
            )
        found[each["name"]] = each["metadata"][_STORED]
    return found


def seen_names(stored: Mapping[str, str]) -> list[int]:
    """What is known of them later."""
    return sorted(zlib.crc32(f"{name}/{other}".encode()) for name, other in stored.items())


def check_names(stored: Mapping[str, str], before: list[int]) -> None:
    """Raises Lost where a column that was read has another name, or is gone. before: as `seen_names`."""
    same = set(before) <= set(seen_names(stored)) if before else all(a == b for a, b in stored.items())
    if not same:
        raise Lost("columns were renamed or dropped")
