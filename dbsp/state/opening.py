"""What a state is opened with, by where it is kept: who may write, and where its segments are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.circuits.segments.segments import Segments
from dbsp.state.lock import Lock
from dbsp.state.objects.path import SEGMENTS, ObjectPath
from dbsp.state.records.places import Place, place_of

if TYPE_CHECKING:
    from dbsp.state.objects.lease import Lease


def only_writer(root: Place) -> Lock | Lease:
    """Raises StateError while there is another one, OSError."""
    if isinstance(root, ObjectPath):
        from dbsp.state.objects.lease import Lease  # noqa: PLC0415  most states are on no store

        return Lease(root.bucket)
    return Lock(root / "lock")


def open_segments(root: Place, verify: bool = True, copied: Path | None = None) -> Segments:
    """Of the state at `root`. copied: to that directory, not to this host's cache. Raises StateError."""
    if isinstance(root, ObjectPath):
        from dbsp.state.objects.copies import Copies  # noqa: PLC0415

        copies = Copies(root.bucket, copied)
        return Segments(copies.cache.directory, verify=verify, origin=copies)
    return Segments(root / SEGMENTS, verify=verify)


def segments_at(place: str, verify: bool = True) -> Segments:
    """The same of a task, on any host. place: see `Segments.place`."""
    root = place_of(place)
    return open_segments(root, verify) if isinstance(root, ObjectPath) else Segments(root, verify=verify)
