"""What a path is of, and its rows as schemas: of a view one, of a table one for each way to write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from dbsp.circuits.traces.zset import WEIGHT
from dbsp.serving.openapi.types import Json, given_schema, key_schema, row_schema
from dbsp.sql.plans.program import OP, Program, Table, View
from dbsp.views.outputs import output_views

_MARKS: dict[str, Json] = {
    WEIGHT: {"type": "integer", "format": "int64", "description": "How often the row comes; below 0: goes"},
    OP: {"type": "string", "enum": ["I", "U", "D"], "description": "Insert, update or delete"},
}


@dataclass
class Subject:
    """What a path is of: a view, a table, or neither. id: its name, as names of schemas may be."""

    name: str
    kind: str
    view: View | None = None
    table: Table | None = None
    id: str = ""

    def schemas(self) -> Iterator[tuple[str, Json]]:
        """Of its rows."""
        if self.view is not None:
            yield f"view.{self.id}", row_schema(self.view.schema)
        if self.table is not None:
            yield f"table.{self.id}", given_schema(self.table, {})
            yield f"change.{self.id}", given_schema(self.table, _MARKS)
            yield f"key.{self.id}", key_schema(self.table)

    def rows(self, of: str = "") -> Json:
        """A reference to them."""
        return {"$ref": f"#/components/schemas/{of or self.kind}.{self.id}"}


def subjects_of(program: Program) -> dict[str, list[Subject]]:
    """Those of `views`, of `tables`, and the one of other paths."""
    views = [Subject(name, "view", view=program.views[name]) for name in output_views(program)]
    tables = [Subject(name, "table", table=program.input(name)) for name in program.inputs]
    for number, subject in enumerate((*views, *tables)):
        safe = re.sub(r"[^A-Za-z0-9._-]", "_", subject.name)
        subject.id = safe if safe == subject.name else f"{safe}_{number}"
    return {"views": views, "tables": tables, "": [Subject("", "")]}
