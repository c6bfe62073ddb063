"""What is to be seen of a pipeline: rows, changes, files."""

from __future__ import annotations

import os


def rows(contents):
    return [tuple(row.values()) for row in contents.rows()]


def changed(changes, view_):
    return [(*row.values(), weight) for row, weight in changes[view_].rows()]


def files(p):
    return {name: set(os.listdir(p.store.root / name)) for name in ("segments", "commits")}
