"""What is written is read by nothing of the program, and has a place of its own."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from dbsp.circuits.errors import ProgramError
from dbsp.sql.plans.program import FILE_FORMATS, Insert, Table, View


def check_targets(tables: Collection[Table], inserts: Iterable[Insert], views: Mapping[str, View]) -> None:
    """A target is written, so nothing of the program reads it; what is no edge has no changelog."""
    for insert in inserts:
        for view in views.values():
            if insert.target in view.plan.scanned():
                message = (
                    f"table '{insert.target}' is written here and read by '{view.name}' ({view.location})"
                )
                raise ProgramError(f"{insert.location}: {message}; read the view that is inserted instead")
    targets = {insert.target for insert in inserts}
    _check_paths([table for table in tables if table.format is not None], targets)
    for table in tables:
        if table.changelog is not None and table.format is None:
            message = f"changelog is of a source or a target; '{table.name}' has no USING"
            raise ProgramError(f"{table.location}: {message}; leave it out")
        if table.is_snapshot and (table.format is None or table.name in targets):
            what = "is written" if table.name in targets else "has no USING"
            message = f"snapshot is of a source, which is compared with its table; '{table.name}' {what}"
            raise ProgramError(f"{table.location}: {message}; leave it out")


def _check_paths(tables: Sequence[Table], targets: Set[str]) -> None:
    """A sink replaces the step's directory under its path, and a source reads all that lies under its own."""
    places = [(table, path) for table in tables if (path := _path(table)) is not None]
    for sink, path in places:
        for other, around in places:
            inside = path == around or (other.name not in targets and path.startswith(around + "/"))
            if sink.name in targets and other is not sink and inside:
                what = "is written there, too" if other.name in targets else "is read from there"
                message = f"table '{sink.name}' is written to '{path}', and '{other.name}' ({other.location})"
                raise ProgramError(f"{sink.location}: {message} {what}; give each a path of its own")


def _path(table: Table) -> str | None:
    if (table.format or "").lower() not in FILE_FORMATS:
        return None
    path = next((value for name, value in table.options.items() if name.lower() == "path"), None)
    return posixpath.normpath(path) if path is not None else None
