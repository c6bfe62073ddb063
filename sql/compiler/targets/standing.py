"""Standing statements: what INSERT INTO and UPSERT INTO keep written into a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.compiler.targets.format_columns import check_sink
from dbsp.sql.compiler.targets.given import by_name, find_target
from dbsp.sql.compiler.targets.inserts import fitted
from dbsp.sql.compiler.targets.unselected import with_hidden_key
from dbsp.sql.compiler.targets.upserts import check_upsert, has_several, last_of_each_key
from dbsp.sql.compiler.views.views import Views
from dbsp.sql.plans.own_forms import own_form
from dbsp.sql.plans.program import Insert, Table, View
from dbsp.sql.plans.properties.keys import keys_of
from dbsp.sql.plans.properties.nullability import never_null
from dbsp.sql.plans.properties.promises import to_promise
from dbsp.sql.plans.schemas import Key
from dbsp.sql.text.statements.statements import InsertInto


@dataclass
class Inserts:
    """Adds them one by one to a program, whose views they read."""

    scope: Scope
    views: Views
    inserts: list[Insert] = field(default_factory=list)

    def add(self, statement: InsertInto) -> None:
        source, defined = self.scope.source, self.scope.defined
        target = find_target(source, statement, defined.tables, defined.views)
        definition = defined.definitions[target.name]
        check_sink(source, definition, target)
        if definition.partitioned is not None and (target.is_file or own_form(target.format) is not None):
            why = "each step is one directory; leave it out"
            if not target.is_file:
                why = "make the table with its partitions, and leave it out here"
            message = f"not supported yet: PARTITIONED BY of '{target.name}', which is written: {why}"
            raise source.error(definition.partitioned, message)
        check_upsert(source, statement, target)
        view = self._view_of(statement)
        if statement.upsert:
            view = self._upserted(statement, view, target)
        statement = by_name(statement, view)
        written, name = self.views.written.get(view.name), self._name_of(statement)
        statement, view, unselected = with_hidden_key(
            statement, view, written, self.views.exact(), self._keys(), target, name
        )
        defined.views[view.name] = view
        key = self._keys()[view.name]
        filled = never_null(view, defined.views)
        promise = to_promise(view, defined.tables, defined.views)
        self.inserts.append(
            fitted(source, statement, view, key, target, self.inserts, filled, promise, unselected)
        )

    def _upserted(self, statement: InsertInto, view: View, target: Table) -> View:
        """The view, or of each of the target's keys the row of it that came last."""
        key = self._keys()[view.name]
        if not has_several(self.scope.source, statement, view, key, target):
            return view
        name = self._name_of(statement)
        if view.name != name and view.emission is None:
            self.views.add_query(name, statement.query)
            view = self.scope.defined.views[name]
        query = self.views.queries[view.name]
        return last_of_each_key(self.scope.source, statement, view, query, key, target)

    def _view_of(self, statement: InsertInto) -> View:
        """The view itself for `SELECT * FROM view`, else an anonymous one of the query."""
        words = statement.query.text.replace("`", "").split()
        if [word.upper() for word in words[:3]] == ["SELECT", "*", "FROM"] and len(words) == 4:
            for view in self.scope.defined.views.values():
                if view.name.lower() == words[3].lower() and view.kind != "local":
                    return view
        name = self._name_of(statement)
        self.views.add_query(name, statement.query)
        return self.scope.defined.views[name]

    def _name_of(self, statement: InsertInto) -> str:
        """Of a view that only the statement reads."""
        number = sum(insert.target.lower() == statement.target.lower() for insert in self.inserts) + 1
        return f"insert into {statement.target}" + (f" #{number}" if number > 1 else "")

    def _keys(self) -> Mapping[str, Key]:
        return keys_of(self.scope.defined.tables, self.scope.defined.views)
