"""What is answered beside rows, as JSON: values; and errors, each a status and a line without a path."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Mapping

from starlette.responses import Response

from dbsp.circuits.errors import DataError, Error, NotKept, ProgramError, StateError
from dbsp.queries.beside.process import Bug
from dbsp.serving.formats import JSON, NotAcceptable
from dbsp.sql.plans.schemas import Schema
from dbsp.views.changes import UnknownView

log = logging.getLogger("dbsp")


class Refused(Error):
    """What is refused whatever it says. status: of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def json_response(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value as JSON."""
    return Response(json.dumps(value, ensure_ascii=False), status, headers, JSON)


def columns_of(schema: Schema) -> list[dict[str, object]]:
    """Names and types, for JSON."""
    return [{"name": one.name, "type": one.type_name, "nullable": one.nullable} for one in schema]


def answer_to(error: Exception, root: object) -> Response:
    """root: of the state, which is nobody's business."""
    status, said = said_of(error, root)
    return json_response({"error": said}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)


def said_of(error: Exception, root: object) -> tuple[int, str]:
    """(HTTP's status, what is said); the log has what nobody but its reader should know."""
    if isinstance(error, Error):
        return _status(error), without_path(error, root)
    number = secrets.token_hex(4)
    log.error("request %s failed", number, exc_info=error)
    said = without_path(error, root) if isinstance(error, Bug) else "a bug of dbsp, or of a library"
    return 500, f"{said}; the server's log has it under {number}"


def without_path(error: Exception, root: object) -> str:
    """What it says, but for where the state is."""
    return str(error).replace(str(root), "the state")


def _status(error: Error) -> int:
    if isinstance(error, Refused):
        return error.status
    if isinstance(error, NotAcceptable):
        return 406
    if isinstance(error, UnknownView):
        return 404
    if isinstance(error, StateError):
        return 410 if isinstance(error, NotKept) else 503
    return 400 if isinstance(error, DataError | ProgramError) else 422


def whole(text: str | None, name: str) -> int | None:
    """A number of a request's query; None where it isn't there. Raises DataError."""
    if text is None:
        return None
    if not (text.isdecimal() and text.isascii() and len(text) < 19):
        raise DataError(f"{name}={text}; give a number, such as {name}=100")
    return int(text)
