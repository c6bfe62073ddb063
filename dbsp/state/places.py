"""Where files are: a path, or a URI, whose scheme may stand before a single slash (`dbfs:/x`, `file:/x`)."""

from __future__ import annotations

import re

from dbsp.circuits.errors import Error

# a single letter is a drive of Windows
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)


def scheme_of(place: str) -> str | None:
    """The scheme of a URI that is not one of local files, in lower case; None of a local path."""
    match = _SCHEME.fullmatch(place)
    return None if match is None or match[1].lower() == "file" else match[1].lower()


def local_path(place: str) -> str:
    """The path of a local place: of `file:/x` and `file:///x` it is `/x`. Raises Error for any other URI."""
    scheme = scheme_of(place)
    if scheme is not None:
        raise Error(f"{place}: files on {scheme} are not supported here; use a local path")
    match = _SCHEME.fullmatch(place)
    if match is None:
        return place
    path = match[2]
    if path.startswith("//"):
        host, _, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            raise Error(f"{place}: '{host}' is read as the name of a host; write file:/{host}/{path}")
    return "/" + path.lstrip("/")
