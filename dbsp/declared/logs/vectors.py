"""Rows of a Delta table's file that are deleted beside it: which, by their numbers.

    data     1681511377 (4 bytes, little-endian), a bitmap of 64-bit numbers as Roaring writes it for others
    inline   the data, in Z85
    a file   at the offset: the data's length, the data, its CRC-32 (4 bytes each, big-endian)

Delta transaction protocol, "Deletion Vectors", "Deletion Vector Format"; RoaringFormatSpec, 64-bit.
"""

from __future__ import annotations

import base64
import string
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from dbsp.circuits.errors import Error, StateError
from dbsp.state.records.places import place_of

_MAGIC = (1681511377).to_bytes(4, "little")
_BESIDE, _INLINE = "u", "i"
_NAME = 20  # letters of a file's UUID, after what stands before its name
_WORD = 4  # bytes
_Z85 = string.digits + string.ascii_lowercase + string.ascii_uppercase + ".-:+=^!/*?&<>()[]{}@%$#"
# the same code by other letters
_B85 = string.digits + string.ascii_uppercase + string.ascii_lowercase + "!#$%&()*+-;<=>?@^_`{|}~"
_AS_B85 = str.maketrans(_Z85, _B85)


class Deleted(Protocol):
    """Rows of one file."""

    @property
    def path(self) -> str | None:
        """Of the file that says which, below the table's place."""

    def numbers(self, place: str) -> np.ndarray:
        """int64[n], ascending, from 0. place: of the table. Raises StateError, OSError."""


@dataclass(frozen=True)
class Vector:
    """As the log names it: storage 'u' or 'i', text: where it is, or itself; offset, size: in its file."""

    storage: str
    text: str
    offset: int
    size: int

    @property
    def path(self) -> str | None:
        """See `Deleted`."""
        if self.storage == _INLINE:
            return None
        name = f"deletion_vector_{uuid.UUID(bytes=_decoded(self.text[-_NAME:]))}.bin"
        before = self.text[:-_NAME]
        return f"{before}/{name}" if before else name

    def numbers(self, place: str) -> np.ndarray:
        """See `Deleted`."""
        try:
            from pyroaring import BitMap64  # noqa: PLC0415  an extra
        except ImportError as error:
            raise Error(
                f"{place} has deletion vectors, which need pyroaring: pip install 'dbsp[delta]'"
            ) from error
        data = self._data(place)
        if data[:_WORD] != _MAGIC:
            raise StateError(f"{place}: a deletion vector of {self.path or 'the log'} is damaged")
        found = BitMap64.deserialize(data[_WORD:]).to_array()
        return np.frombuffer(found, np.uint64).astype(np.int64)

    def _data(self, place: str) -> bytes:
        if self.path is None:
            return _decoded(self.text)[: self.size]
        whole = (place_of(place) / self.path).read_bytes()[self.offset :]
        length, data = whole[:_WORD], whole[_WORD : _WORD + self.size]
        check = whole[_WORD + self.size : _WORD + self.size + _WORD]
        if int.from_bytes(length, "big") != self.size or zlib.crc32(data) != int.from_bytes(check, "big"):
            raise StateError(f"{place}/{self.path}: this deletion vector is damaged; restore the file")
        return data


@dataclass(frozen=True, eq=False)
class Numbers:
    """As delta-rs has read them."""

    found: np.ndarray
    path: str | None = None

    def numbers(self, place: str) -> np.ndarray:
        """See `Deleted`."""
        return self.found


def vector_of(table: str, said: Mapping[str, Any] | None) -> Vector | None:
    """Of an `add` or a `remove`. Raises StateError for one in another place. table: for people."""
    if said is None:
        return None
    if said["storageType"] not in (_BESIDE, _INLINE):
        path = said["pathOrInlineDv"]
        raise StateError(f"table {table}: not supported yet: a deletion vector in another place, {path}")
    return Vector(
        said["storageType"], said["pathOrInlineDv"], int(said.get("offset") or 0), said["sizeInBytes"]
    )


def _decoded(text: str) -> bytes:
    return base64.b85decode(text.translate(_AS_B85))
