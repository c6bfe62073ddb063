"""GET /openapi.json: what can be asked where, of this program, as OpenAPI 3.1.

Made of the routes, of which those with a name are there once for each view or table, with their rows; a route
that is not known here is there with its methods and what its handler's docstring says.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from dbsp.serving.answers import json_response
from dbsp.serving.openapi.operations import OPERATIONS, Subject
from dbsp.serving.openapi.types import Json
from dbsp.sql.plans.program import Program
from dbsp.views.outputs import output_views

VERSION = "3.1.0"
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}

Routes = list[tuple[str, list[str], Callable[[Request], Any]]]


@dataclass
class Document:
    """routes: as they are when it is first asked for."""

    program: Program
    routes: Routes

    async def shown(self, request: Request) -> Response:
        """This program's paths and schemas, as OpenAPI."""
        return json_response(self.content)

    @cached_property
    def content(self) -> Json:
        """The document."""
        subjects = self._subjects()
        paths: Json = {}
        for path, methods, handler in self.routes:
            for subject in subjects[_kind(path)]:
                at = path.replace("{name}", quote(subject.name, safe="") if subject.name else "{name}")
                paths[at] = {method.lower(): _operation(path, method, handler, subject) for method in methods}
        rows = {name: schema for each in subjects.values() for one in each for name, schema in one.schemas()}
        return {
            "openapi": VERSION,
            "info": {
                "title": self.program.name,
                "version": _version(),
                "summary": "Views that are kept up to date: rows, changes, queries, and rows for tables",
            },
            "servers": [{"url": "/"}],
            "paths": paths,
            "components": {
                "schemas": {"Error": _ERROR, **rows},
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        }

    def _subjects(self) -> dict[str, list[Subject]]:
        program = self.program
        views = [Subject(name, "view", view=program.views[name]) for name in output_views(program)]
        tables = [Subject(name, "table", table=program.input(name)) for name in program.inputs]
        for number, subject in enumerate((*views, *tables)):
            safe = re.sub(r"[^A-Za-z0-9._-]", "_", subject.name)
            subject.id = safe if safe == subject.name else f"{safe}_{number}"
        return {"views": views, "tables": tables, "": [Subject("", "")]}


def _kind(path: str) -> str:
    """What the name in a path is of."""
    found = re.match(r"/(views|tables)/\{name\}", path)
    return found[1] if found else ""


def _operation(path: str, method: str, handler: Callable[..., Any], subject: Subject) -> Json:
    known = OPERATIONS.get((path, method))
    said = (inspect.getdoc(handler) or path).splitlines()[0].rstrip(".")
    made: Json = {
        "operationId": "_".join([method.lower(), *_words(path), *([subject.id] if subject.id else [])]),
        "summary": said,
        "responses": {"200": {"description": said}},
    }
    if known is not None:
        made |= known(subject)
    else:
        made["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"\{(\w+)", path)
            if not (subject.name and name == "name")
        ]
    wrong = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    made["responses"] |= {"default": {"description": "What is wrong, in a line", "content": wrong}}
    return made


def _words(path: str) -> Iterable[str]:
    return [re.sub(r"\W", "_", word) for word in path.split("/") if word and word != "{name}"] or ["index"]


def _version() -> str:
    try:
        return metadata.version("dbsp")
    except metadata.PackageNotFoundError:  # a checkout
        return "0"
