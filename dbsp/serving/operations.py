"""GET /openapi.json: what is asked and answered on each route: parameters, bodies, rows."""

from __future__ import annotations

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from dbsp.serving.answers import json_response
from dbsp.serving.formats import ARROW, CSV, EVENTS, JSON, LINES, PARQUET, SHORT, TEXT
from dbsp.serving.openapi.document import Document, Routes
from dbsp.serving.openapi.subjects import Subject
from dbsp.serving.openapi.types import Json, column_schema
from dbsp.serving.reads import FORMS, WORDS, Handler
from dbsp.serving.subscriptions import FORMS as CHANGES
from dbsp.sql.plans.program import Program, View

_STEP: Json = {"type": "integer", "format": "int64", "description": "The number of a step"}
_COUNT: Json = {"type": "integer", "minimum": 0}
_WORD: Json = {"type": "string"}
_BINARY: Json = {}


def described(program: Program, routes: Routes) -> Handler:
    """What answers with the document. routes: as they are when it is first asked."""
    document = Document(program, routes, OPERATIONS)

    async def shown(request: Request) -> Response:
        """This program's paths and schemas, as OpenAPI."""
        return json_response(document.content)

    return shown


def _index(_: Subject) -> Json:
    return _answers(_object(step=_STEP, paths=_map({"type": "array", "items": _WORD})))


def _views(_: Subject) -> Json:
    key = {"type": ["array", "null"], "items": _WORD}
    view = _object(name=_WORD, columns=_COLUMNS, key=key, ordered={"type": "boolean"})
    return _answers(_object(step=_STEP, views=_list(view)))


def _tables(_: Subject) -> Json:
    key, source = {"type": ["array", "null"], "items": _WORD}, {"type": ["string", "null"]}
    listed = _object(name=_WORD, columns=_COLUMNS, key=key, source=source)
    return _answers(_object(tables=_list(listed)))


def _view(subject: Subject) -> Json:
    assert subject.view is not None
    asked = [
        _asked("where", _WORD, "Which rows, in Spark's SQL"),
        _asked("order", _WORD, "Columns, as `a,-b`: by a, and where it is the same by b downwards"),
        *_PAGE,
        _asked("as_of", _WORD, "Another step that is kept, a tag or a time"),
        _asked("format", _short(FORMS), "Instead of an Accept header"),
        *_columns(subject.view),
    ]
    return {"parameters": asked, "tags": [subject.name], **_rows(subject.rows())}


def _why(subject: Subject) -> Json:
    assert subject.view is not None
    asked = [
        _asked("limit", _COUNT, "Of rows that are shown of each operator"),
        _asked("offset", _COUNT, "Rows of each operator that are left out before"),
        _asked("as_of", _WORD, "Another step that is kept, a tag or a time"),
        _asked("format", _short((JSON, TEXT)), "Instead of an Accept header"),
        *_columns(subject.view),
    ]
    content = {JSON: {"schema": {"type": "object"}}, TEXT: {"schema": _WORD}}
    return {"parameters": asked, "tags": [subject.name], **_with("What the rows follow from", content)}


def _changes(subject: Subject) -> Json:
    asked = [
        _asked("since", _COUNT, "The step whose rows the client has; unless given, the last"),
        _asked("until", {"type": "string", "enum": ["last"]}, "End at the last step"),
        _asked("format", _short(CHANGES), "Instead of an Accept header"),
        {"name": "Last-Event-ID", "in": "header", "schema": _WORD, "description": "As since, of EventSource"},
    ]
    content = {EVENTS: {"schema": _WORD}, ARROW: {"schema": _BINARY}}
    said = "Events `changes`, with the rows and their `__weight`, step by step; or Arrow"
    return {"parameters": asked, "tags": [subject.name], **_with(said, content)}


def _query(method: str) -> Callable[[Subject], Json]:
    def made(_: Subject) -> Json:
        asked = [
            _asked("order", _WORD, "Columns, as `a,-b`"),
            *_PAGE,
            _asked("as_of", _WORD, "Another step that is kept, a tag or a time"),
            _asked("format", _short(FORMS), "Instead of an Accept header"),
        ]
        said: Json = _rows({"type": "object"})
        if method == "POST":
            body = {"required": True, "description": "SELECT ...", "content": {TEXT: {"schema": _WORD}}}
            return {"parameters": asked, "requestBody": body, **said}
        sql = _asked("sql", _WORD, "SELECT ..., in Spark's SQL") | {"required": True}
        return {"parameters": [sql, *asked], **said}

    return made


def _write(of: str) -> Callable[[Subject], Json]:
    def made(subject: Subject) -> Json:
        rows = subject.rows(of)
        forms = {
            JSON: {"schema": {"anyOf": [{"type": "array", "items": rows}, rows]}},
            LINES: {"schema": _WORD},
            CSV: {"schema": _WORD},
            ARROW: {"schema": _BINARY},
            PARQUET: {"schema": _BINARY},
        }
        body = {"required": True, "content": forms}
        return {"tags": [subject.name], "requestBody": body, **_stepped(subject)}

    return made


def _stepped(_: Subject) -> Json:
    key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": 200}}
    said = "A request that is sent again with the same key changes nothing"
    changed = _map({"type": "integer"})
    made = {
        "type": "object",
        "properties": {
            "step": _STEP,
            "changed": changed | {"description": "Changed rows by view"},
            "late": changed | {"description": "Rows left out as late, by relation"},
            "repeated": {"type": "boolean"},
            "warning": _WORD,
        },
        "required": ["step"],
    }
    return {"parameters": [key | {"description": said}], "security": [{"token": []}], **_answers(made)}


def _metrics(_: Subject) -> Json:
    return _with("In Prometheus' text format", {TEXT: {"schema": _WORD}})


def _alive(_: Subject) -> Json:
    return _answers(_object(step=_STEP))


def _described(_: Subject) -> Json:
    return _answers({"type": "object"})


def _columns(view: View) -> list[Json]:
    return [
        _asked(field.name, column_schema(field, False, given=True), f"Rows whose {field.name} is this")
        for field in view.schema
        if field.name not in WORDS
    ]


def _asked(name: str, schema: Json, said: str) -> Json:
    return {"name": name, "in": "query", "schema": schema, "description": said}


def _short(forms: tuple[str, ...]) -> Json:
    return {"type": "string", "enum": [short for short, form in SHORT.items() if form in forms]}


def _rows(row: Json) -> Json:
    page = _object(
        step=_STEP,
        of=_COUNT | {"description": "Rows in all"},
        more={"type": "boolean", "description": "Whether there are rows after these"},
        columns=_COLUMNS,
        rows=_list(row),
    )
    content = {
        JSON: {"schema": page},
        LINES: {"schema": _WORD},
        CSV: {"schema": _WORD},
        ARROW: {"schema": _BINARY},
        PARQUET: {"schema": _BINARY},
    }
    step = {"Dbsp-Step": {"schema": _STEP, "description": "Which step they are of"}}
    return {"responses": {"200": {"description": "Rows", "headers": step, "content": content}}}


def _answers(schema: Json) -> Json:
    return _with("As JSON", {JSON: {"schema": schema}})


def _with(said: str, content: Json) -> Json:
    return {"responses": {"200": {"description": said, "content": content}}}


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": [*properties]}


def _list(items: Json) -> Json:
    return {"type": "array", "items": items}


def _map(values: Json) -> Json:
    return {"type": "object", "additionalProperties": values}


_COLUMNS = _list(_object(name=_WORD, type=_WORD, nullable={"type": "boolean"}))
_PAGE = [
    _asked("limit", _COUNT, "Of rows; JSON has 1,000 unless given"),
    _asked("offset", _COUNT, "Rows that are left out before"),
]

OPERATIONS: dict[tuple[str, str], Callable[[Subject], Json]] = {
    ("/", "GET"): _index,
    ("/views", "GET"): _views,
    ("/views/{name}", "GET"): _view,
    ("/views/{name}/why", "GET"): _why,
    ("/views/{name}/changes", "GET"): _changes,
    ("/query", "GET"): _query("GET"),
    ("/query", "POST"): _query("POST"),
    ("/tables", "GET"): _tables,
    ("/tables/{name}", "POST"): _write("change"),
    ("/tables/{name}", "PUT"): _write("table"),
    ("/tables/{name}", "DELETE"): _write("key"),
    ("/step", "POST"): _stepped,
    ("/metrics", "GET"): _metrics,
    ("/healthz", "GET"): _alive,
    ("/readyz", "GET"): _alive,
    ("/openapi.json", "GET"): _described,
}
