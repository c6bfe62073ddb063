"""A process that ends before a change of a name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

NAMES = ("rename", "replace", "unlink", "link")


class Killed(BaseException):
    pass


@contextmanager
def killed_at(monkeypatch, point: int) -> Iterator[list[bool]]:
    """What is within ends before the change of that number, from 0. Given is whether it did, once it has."""
    left, ended = [point], [False]

    def ending(act):
        def acting(*arguments, **options):
            if left[0] == 0:
                raise Killed
            left[0] -= 1
            return act(*arguments, **options)

        return acting

    with monkeypatch.context() as patched:
        for name in NAMES:
            patched.setattr(os, name, ending(getattr(os, name)))
        try:
            yield ended
        except Killed:
            ended[0] = True
