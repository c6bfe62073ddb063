"""Which files are on disk: what has been synced."""

from __future__ import annotations

import os


def synced_paths(monkeypatch):
    """The paths that have been synced, as they are."""
    synced, fsync = set(), os.fsync

    def note(descriptor):
        synced.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    return synced
