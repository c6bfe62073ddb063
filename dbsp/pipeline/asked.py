"""What a pipeline is asked: views and tables, queries, changes, why a row is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.history.asked import AsOf
from dbsp.pipeline.reading import Reading
from dbsp.sql.plans.program import Program
from dbsp.views.changes import ViewChanges
from dbsp.views.outputs import output_view, output_views
from dbsp.views.view import Contents

if TYPE_CHECKING:
    from dbsp.views.derivation import Why
    from dbsp.views.explained.explanation import Explanation


class Asked:
    """The half of a Pipeline that answers, to any thread, without waiting for a step."""

    program: Program
    _reading: Reading

    def __getitem__(self, view: str) -> Contents:
        """The view as of the last step."""
        return self.view(view)

    def __iter__(self) -> Iterator[str]:
        """The names of the views that can be read, in the order of the program."""
        return iter(self.keys())

    def __contains__(self, view: object) -> bool:
        return str(view).lower() in map(str.lower, self.keys())

    def keys(self) -> list[str]:
        """So that `dict(pipeline)` is all views by their names.

        Examples:
            >>> {name: len(view) for name, view in dict(p).items()}
            {'turnover': 2}
        """
        return self.views

    @property
    def views(self) -> list[str]:
        """The names of the views that can be read, in the order of the program.

        Examples:
            >>> p.views
            ['turnover']
        """
        return output_views(self.program)

    @property
    def tables(self) -> list[str]:
        """The names of the tables that take rows, in the order of the program.

        Examples:
            >>> p.tables
            ['sale']
        """
        return list(self.program.inputs)

    @property
    def plans_found(self) -> Mapping[str, int]:
        """Queries asked of this pipeline, by where their plan was found: see `dbsp.queries.plans.FOUND`."""
        return self._reading.plans.found

    def view(self, view: str, as_of: AsOf | None = None) -> Contents:
        """The view as of a step; of the last one unless `as_of` names another that is kept.

        Examples:
            >>> p.delete("sale", [(1, "Ada", 5)])
            >>> p.step().step, p.view("turnover").rows()
            (2, [{'buyer': 'Bob', 'total': 7}])
            >>> p.view("turnover", as_of=1).rows()
            [{'buyer': 'Ada', 'total': 5}, {'buyer': 'Bob', 'total': 7}]

        Any thread may ask, and doesn't wait for a step that is being made.
        as_of: the number of a step, a tag, or a time: the last step at or before it (see `clock.instant`).
        """
        return self._reading.view(view, as_of)

    def why(self, view: str, key: Any, as_of: AsOf | None = None) -> Why:
        """Why a view has its rows of a key, or why it has none: see `Contents.why`.

        Examples:
            >>> print(p.why("turnover", "Ada"))
            turnover where buyer = "Ada", as of step 1; last changed by step 1
            turnover   [1 row]
            | {"buyer": "Ada", "total": 5}
              aggregate by buyer: sum(price)   [1 row]
                sale   [1 row]
                | {"id": 1, "buyer": "Ada", "price": 5}
            step 1 changed sale
            | +1 {"id": 1, "buyer": "Ada", "price": 5}

        key: as of `Contents.lookup`, such as {"shop": 7, "day": None}.
        """
        return self.view(view, as_of).why(key)

    def explain(self, view: str | None = None) -> Explanation:
        """Each view's plan and the circuit that keeps it, or of one view: a text; in a notebook a drawing.

        Examples:
            >>> print(str(p.explain("turnover")).splitlines()[0])
            view turnover (buyer STRING, total BIGINT)

        Raises UnknownView.
        """
        from dbsp.views.explained.explanation import Explanation  # noqa: PLC0415  a step explains nothing

        return Explanation(self.program, None if view is None else output_view(self.program, view))

    def sql_schema(self, select: str, timezone: str | None = None) -> pa.Schema:
        """The columns of what `sql` would give, without the rows.

        Examples:
            >>> p.sql_schema("SELECT buyer, total * 2 AS twice FROM turnover").names
            ['buyer', 'twice']
        """
        return self._reading.query_schema(select, timezone)

    def changes_of(self, view: str, step: int) -> ViewChanges:
        """What a kept step changed in a view.

        Examples:
            >>> p.changes_of("turnover", 1).rows()
            [({'buyer': 'Ada', 'total': 5}, 1), ({'buyer': 'Bob', 'total': 7}, 1)]
        """
        return self._reading.changes_of(view, step)

    def changes(self, view: str, since: AsOf, until: AsOf | None = None, *, each: bool = False) -> pa.Table:
        """What changed in a view after a step, up to another: its columns and `__weight`, consolidated.

        since, until: as in `view`; since 0 is from the beginning, and without until it is up to now. each:
        step by step, with a column `__step`. Raises StateError where steps aren't kept: of a view without
        TRIGGER and EMIT the two are enough, unless it is asked for each.

        Examples:
            >>> p.upsert("sale", [(2, "Bob", 8)])
            >>> made = p.step()
            >>> p.changes("turnover", since=1).to_pylist()
            [{'buyer': 'Bob', 'total': 7, '__weight': -1}, {'buyer': 'Bob', 'total': 8, '__weight': 1}]
        """
        return self._reading.changes(view, since, until, each)
