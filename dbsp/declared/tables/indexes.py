"""The hashes of each file's rows, sorted: a file of uint64 beside the table's record, written once.

a directory   mapped where it is
a store       sent as it is written; read by way of the host's copies, which have a bound
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dbsp.state.objects.host_cache import HostCache, cache_root
from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.places import Place


@dataclass
class Indexes:
    """folder: of one table's."""

    folder: Place

    def get(self, name: str) -> np.ndarray | None:
        """None where there are none. Raises OSError."""
        try:
            found: np.ndarray = np.load(self._file(f"{name}.npy"), mmap_mode="r")
        except FileNotFoundError:
            return None
        return found

    def put(self, name: str, hashes: np.ndarray) -> None:
        """Raises OSError."""
        if isinstance(self.folder, Path):
            self.folder.mkdir(parents=True, exist_ok=True)
            np.save(self.folder / f"{name}.npy", hashes)
            return
        content = io.BytesIO()
        np.save(content, hashes)
        (self.folder / f"{name}.npy").put(content.getvalue())

    def forget(self, name: str) -> None:
        """Of a file that is gone. Raises OSError."""
        (self.folder / f"{name}.npy").unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        if isinstance(self.folder, Path):
            return self.folder / name
        place, cache = self.folder / name, self._copies
        if cache.stat(name) is None:
            cache.bring(name, lambda path: place.bucket.fetch(place.key, path), None)
        cache.used(name)
        return cache.path(name)

    @cached_property
    def _copies(self) -> HostCache:
        assert isinstance(self.folder, ObjectPath)
        return HostCache(str(self.folder), cache_root())
