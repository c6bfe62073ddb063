"""What can be asked where, of a program, as OpenAPI 3.1.

Made of the routes, of which those with a name are there once for each view or table, with their rows; a route
that is not known here is there with its methods and what its handler's docstring says.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from typing import Any
from urllib.parse import quote

from dbsp.serving.openapi.subjects import Subject, subjects_of
from dbsp.serving.openapi.types import Json
from dbsp.sql.plans.program import Program

VERSION = "3.1.0"
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}

Routes = Sequence[tuple[str, list[str], Callable[..., Any]]]
Operations = Mapping[tuple[str, str], Callable[[Subject], Json]]


@dataclass
class Document:
    """routes: as they are when it is first asked for. operations: by path and method."""

    program: Program
    routes: Routes
    operations: Operations

    @cached_property
    def content(self) -> Json:
        """The document."""
        subjects = subjects_of(self.program)
        paths: Json = {}
        for path, methods, handler in self.routes:
            for subject in subjects[_kind(path)]:
                at = path.replace("{name}", quote(subject.name, safe="") if subject.name else "{name}")
                paths[at] = {
                    method.lower(): self._operation(path, method, handler, subject) for method in methods
                }
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

    def _operation(self, path: str, method: str, handler: Callable[..., Any], subject: Subject) -> Json:
        known = self.operations.get((path, method))
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


def _kind(path: str) -> str:
    """What the name in a path is of."""
    found = re.match(r"/(views|tables)/\{name\}", path)
    return found[1] if found else ""


def _words(path: str) -> Iterable[str]:
    return [re.sub(r"\W", "_", word) for word in path.split("/") if word and word != "{name}"] or ["index"]


def _version() -> str:
    try:
        return metadata.version("dbsp")
    except metadata.PackageNotFoundError:  # a checkout
        return "0"
