"""What is read: views, of any step that is kept, and queries over them.

    GET /views                        what there is
    GET /views/{name}                 rows: ?column=value, where=SQL, order=a,-b, limit, offset, as_of, format
    GET /views/{name}/why             why rows are there or not: ?column=value, as_of, limit, offset
    GET /query?sql=SELECT ...         or POST with the query as the body

An answer in JSON says of which step it is, and whether there are more rows. No read waits for a step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from dbsp.circuits.errors import DataError
from dbsp.circuits.expressions.nodes import Column
from dbsp.dml.reading.statements import is_statement
from dbsp.pipeline.pipeline import Pipeline
from dbsp.rows.texts import values_of
from dbsp.serving.answers import columns_of, json_response, whole
from dbsp.serving.evaluating import Evaluating
from dbsp.serving.formats import ARROW, CSV, JSON, LINES, PARQUET, TEXT, form_of, spelled
from dbsp.sql.plans.calls import SortOrder
from dbsp.sql.plans.properties.keys import view_keys
from dbsp.sql.text.tokens import quoted
from dbsp.views.derivation import SHOWN
from dbsp.views.outputs import output_view
from dbsp.views.view import Contents

FORMS = (JSON, LINES, CSV, ARROW, PARQUET)
# rows of an answer in JSON unless the client says how many
PAGE = 1000
# rows that are spelled without a thread
FEW = 100
WORDS = ("where", "order", "limit", "offset", "as_of", "format", "sql")

Handler = Callable[[Request], Awaitable[Response]]


@dataclass
class Reads:
    """Of one pipeline."""

    pipeline: Pipeline
    evaluating: Evaluating

    async def views(self, request: Request) -> Response:
        """The views, with their columns and keys, and whether their rows have an order of their own."""
        program = self.pipeline.program
        keys = view_keys(program)
        listed = []
        for name in self.pipeline:
            schema, positions = program.views[name].schema, keys[name]
            key = None if positions is None else [schema[i].name for i in positions]
            ordered = bool(program.views[name].order)
            listed.append({"name": name, "columns": columns_of(schema), "key": key, "ordered": ordered})
        return json_response({"step": self.pipeline.last_step, "views": listed})

    async def view(self, request: Request) -> Response:
        """Rows of a view."""
        name = output_view(self.pipeline.program, request.path_params["name"])
        found = self._at_once(name, request)
        return await self._rows(request, lambda: self._asked(name, request), found)

    async def why(self, request: Request) -> Response:
        """What rows of a view follow from, as a tree of operators; in text for who wants that."""
        name = output_view(self.pipeline.program, request.path_params["name"])
        asked = request.query_params
        form = form_of(asked.get("format"), request.headers.get("accept", "*/*"), (JSON, TEXT))
        limit = whole(asked.get("limit"), "limit")
        offset = whole(asked.get("offset"), "offset") or 0

        def told() -> Response:
            contents = self.pipeline.view(name, asked.get("as_of"))
            equal = _equal(request)
            if not equal:
                column = contents.schema.names[0]
                raise DataError(f"which rows? give values of columns, as ?{column}=...")
            why = contents.why(values_of(contents.columns, equal))
            if form == TEXT:
                said = why.text(SHOWN if limit is None else limit, offset)
                return Response(f"{said}\n", media_type=TEXT)
            return json_response(why.to_json(PAGE if limit is None else limit, offset))

        return await self.evaluating.done_for(request, told)

    async def query(self, request: Request) -> Response:
        """Rows of a query."""
        select = request.query_params.get("sql")
        if request.method == "POST":
            select = (await request.body()).decode("utf-8", "replace")
        if not select or not select.strip():
            raise DataError("no query: give ?sql=SELECT ..., or POST it as the body")
        if is_statement(select):
            raise DataError(
                "a query only reads: rows are changed by POST, PUT and DELETE of /tables/NAME, with the token"
            )
        as_of = request.query_params.get("as_of")
        return await self._rows(request, lambda: self.pipeline.sql(select, as_of))

    async def _rows(
        self, request: Request, read: Callable[[], Contents], found: Contents | None = None
    ) -> Response:
        """found: what `read` would give, where that is there, and little."""
        asked = request.query_params
        form = form_of(asked.get("format"), request.headers.get("accept", "*/*"), FORMS)
        limit = whole(asked.get("limit"), "limit")
        if limit is None and form == JSON:
            limit = PAGE
        offset = whole(asked.get("offset"), "offset") or 0
        order = asked.get("order", "")

        def answered(contents: Contents) -> tuple[bytes, int]:
            by = _order_of(contents, order)
            if limit is None:
                rows = contents.in_order(by)
                shown, count = rows.slice(offset), rows.num_rows
            else:
                shown, count = contents.page(offset, limit, by)
            more = offset + shown.num_rows < count
            head = {
                "step": contents.step,
                "of": count,
                "more": more,
                "columns": columns_of(contents.columns),
            }
            if contents.note:
                head["note"] = contents.note
            return spelled(shown, form, head), contents.step

        if found is not None and len(found) <= FEW:
            body, step = answered(found)
        else:
            body, step = await self.evaluating.done_for(request, lambda: answered(read()))
        return Response(body, 200, {"Dbsp-Step": str(step)}, form)

    def _at_once(self, name: str, request: Request) -> Contents | None:
        """The rows of a lookup in an index that is there: a thread would cost more than it.

        None: it isn't one, or what it reads may be on a store.
        """
        asked = request.query_params
        equal = _equal(request)
        if (
            not equal
            or "as_of" in asked
            or "where" in asked
            or self.pipeline.store.segments.origin is not None
        ):
            return None
        contents = self.pipeline.view(name)
        values = values_of(contents.columns, equal)
        return contents.where(values) if contents.has_index(values) else None

    def _asked(self, name: str, request: Request) -> Contents:
        asked = request.query_params
        as_of, where = asked.get("as_of"), asked.get("where")
        equal = _equal(request)
        if where is not None:
            if equal:
                raise DataError(f"where and {equal[0][0]}=: say it all in where")
            relation = quoted(name.split("."))
            return self.pipeline.sql(f"SELECT * FROM {relation} WHERE {where}", as_of)
        contents = self.pipeline.view(name, as_of)
        return contents.where(values_of(contents.columns, equal)) if equal else contents


def _equal(request: Request) -> list[tuple[str, str]]:
    """The columns that are to have a value, and the values."""
    return [(column, value) for column, value in request.query_params.multi_items() if column not in WORDS]


def _order_of(contents: Contents, order: str) -> list[SortOrder] | None:
    """The order that is asked for, `a,-b`: by a, where it is the same by b downwards; None: the view's."""
    if not order:
        return None
    names = contents.schema.names
    by = []
    for part in order.split(","):
        wanted = part.strip().removeprefix("-")
        column = next((i for i, name in enumerate(names) if name.lower() == wanted.lower()), None)
        if column is None:
            raise DataError(f"order={wanted} is no column; columns: {', '.join(names)}")
        descending = part.strip().startswith("-")
        by.append(SortOrder(Column(column, contents.schema.field(column).type), descending, descending))
    return by
