"""Where files are: a path, or a URI, whose scheme may stand before a single slash (`dbfs:/x`, `file:/x`)."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path
from shutil import rmtree
from typing import TypeAlias

from dbsp.circuits.errors import Error, StateError
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.path import ObjectPath

# of the stores that state can be on
SCHEMES = ("s3", "gs", "az", "abfs", "abfss", "hdfs")

# a single letter is a drive of Windows
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/.*)", re.DOTALL)
_BEGIN = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")

Place: TypeAlias = Path | ObjectPath

log = logging.getLogger("dbsp")


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


def place_of(text: str | Path | ObjectPath) -> Place:
    """A local path, or a URI of a store. Raises StateError for any other URI."""
    if isinstance(text, ObjectPath):
        return text
    given, known = str(text), ", ".join(SCHEMES)
    scheme = _scheme_of(given)
    if scheme in SCHEMES:
        # a Path has made one slash of two
        match = re.fullmatch(r"[^:]*://?([^/].*?)/*", given)
        if match is None:
            what = (
                "host; write hdfs://namenode/path"
                if scheme == "hdfs"
                else f"bucket; write {scheme}://bucket/prefix"
            )
            raise StateError(f"{given}: names no {what}")
        return ObjectPath(_bucket(scheme, match[1]))
    if scheme is not None:
        raise StateError(
            f"{given}: state on {scheme} is not supported; stores: {known}, or a local directory"
        )
    try:
        return Path(local_path(given))
    except Error as error:
        raise StateError(str(error)) from None


def _bucket(scheme: str, rest: str) -> Bucket:
    # most states are on no store, and each needs packages of its own
    if scheme == "hdfs":
        from dbsp.state.objects.hdfs import HdfsBucket  # noqa: PLC0415

        return HdfsBucket(f"{scheme}://{rest}")
    from dbsp.state.objects.cloud import CloudBucket  # noqa: PLC0415

    return CloudBucket(f"{scheme}://{rest}")


def _scheme_of(place: str) -> str | None:
    """Also of a URI without a slash, as `s3:bucket`, which is no folder either."""
    known = scheme_of(place)
    if known is not None:
        return known
    match = _BEGIN.match(place)
    return match[1].lower() if match and match[1].lower() in SCHEMES else None


def names_in(folder: Place) -> list[str]:
    """Of what is in it. Raises OSError."""
    return folder.names() if isinstance(folder, ObjectPath) else os.listdir(folder)


def delete_all(root: Place) -> None:
    """What is there, as far as it can be; why not is logged."""
    if isinstance(root, Path):
        rmtree(root, ignore_errors=True)
        return
    try:
        root.remove(root.all_names())
    except OSError as error:
        log.warning("%s: can't be deleted (%s)", root, error)


def delete(path: Place) -> bool:
    """Whether the file is gone; why not is logged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        if isinstance(path, Path) and not os.path.lexists(path):
            return True  # over a network the answer can get lost
        log.warning("%s: can't be deleted (%s); tried again later", path, error.strerror)
        return False
    return True
