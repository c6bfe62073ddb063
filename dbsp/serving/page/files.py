"""The page of a pipeline: files as they lie here, that ask this server for everything else.

Whoever opens it runs what these files say and nothing besides: no script or style is taken from a row, a
name or another host (`POLICY`).
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# a page that is kept would speak to a newer server
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
    "Vary": "Accept",
}
_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
START = "index.html"


@cache
def page_files() -> dict[str, bytes]:
    """By name."""
    folder = files("dbsp.serving.page").joinpath("static")
    return {file.name: file.read_bytes() for file in folder.iterdir() if _ending(file.name) in _KINDS}


def page_response(name: str = START) -> Response | None:
    """One of the files; None: there is none of that name."""
    found = page_files().get(name)
    if found is None:
        return None
    return Response(found, 200, HEADERS, f"{_KINDS[_ending(name)]}; charset=utf-8")


def wants_page(request: Request) -> bool:
    """Whether a browser asks, and no client that takes anything."""
    return "text/html" in request.headers.get("accept", "").lower()


def _ending(name: str) -> str:
    return name.rpartition(".")[2]
