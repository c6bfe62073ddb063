"""What a client is told that asked for something wrong: a status, and a line that names no path."""

from __future__ import annotations

import json
import logging
import secrets

from starlette.responses import Response

from dbsp.circuits.errors import DataError, Error, NotKept, ProgramError, StateError
from dbsp.serving.formats import JSON, NotAcceptable
from dbsp.views.changes import UnknownView

log = logging.getLogger("dbsp")


class Refused(Error):
    """What is refused whatever it says. status: of HTTP."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def answer_to(error: Exception, root: object) -> Response:
    """root: of the state, which is nobody's business."""
    if isinstance(error, Error):
        status, said = _status(error), str(error).replace(str(root), "the state")
    else:
        number = secrets.token_hex(4)
        log.error("request %s failed", number, exc_info=error)
        status, said = 500, f"a bug of dbsp, or of a library; the server's log has it under {number}"
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    body = json.dumps({"error": said}, ensure_ascii=False)
    return Response(body, status, headers, JSON)


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
