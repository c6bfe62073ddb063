"""Sparks beside a server, which compile queries, and evaluate what the engine doesn't.

They are started when they are first asked. Each has a Python and a JVM of its own (`worker.py`), as much
memory as a query may take, and of this process's environment what it needs to start. Whoever asks waits for
no more than his time; then it is ended, whatever it does: Catalyst computes a query's constants, and what
computes them may be anything.

    asked      long size, a pickle of (function, arguments)
    answered   long size, a pickle of (value, None, True) or (None, error, whether it goes on)
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dbsp.circuits.allowance import current_allowance, may_go_on
from dbsp.circuits.child import Child, Children
from dbsp.circuits.errors import Error

# one is never held up by what the other does
COMPILER, EVALUATOR = "compiles", "evaluates"

LONG = struct.Struct(">q")
# what Python, Java and Spark are started by, and the cache of programs found: no token, no key of a store
_SEEN = (
    *("PATH", "HOME", "USER", "LANG", "LC_", "TZ", "TMPDIR", "XDG_CACHE_HOME", "LD_LIBRARY_PATH"),
    *("JAVA_HOME", "SPARK_", "PYTHON"),
)
_TRIES = 2
_LOOK = 0.1  # seconds between two looks at whether anybody waits
_LEAST = 512  # MB of which a JVM of Spark starts

_children = Children[Child]()


def done(kind: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """function(a session there, *arguments), within the allowance of who asks.

    kind: which of them does it. Raises as the function does, Bug for what is no Error, Refusal, and Error
    where the process ends.
    """
    allowance = current_allowance()
    assert allowance is not None, "who has no allowance waits for ever: a session of his own is enough"
    asked = pickle.dumps((function, arguments), 5)
    for _ in range(_TRIES):
        with suppress(_LostError):  # it ended as it was asked: for want of questions, or killed
            return _done(kind, allowance.bytes, asked)
    raise Error(f"the Spark that {kind} queries has ended {_TRIES} times; is there enough memory here?")


class Bug(Exception):
    """What no query may cause in the process that does it. Its note says where it was raised."""


class _LostError(Exception):
    """A process ended without an answer."""


def _done(kind: str, bytes_: int, asked: bytes) -> Any:
    with _asking(kind, bytes_) as child:
        try:
            child.write(memoryview(LONG.pack(len(asked))))
            child.write(memoryview(asked))
            size = LONG.unpack(child.read(LONG.size))[0]
            may_go_on(size)
            value, error, goes_on = pickle.loads(child.read(size))
        except (OSError, EOFError):
            child.end()
            raise _LostError from None
        except BaseException:
            child.end()
            raise
        if not goes_on:
            child.end()
    if error is not None:
        raise error
    return value


@contextmanager
def _asking(kind: str, bytes_: int) -> Iterator[Child]:
    """One that runs, which nobody else asks meanwhile."""
    while True:
        child = _child(kind, bytes_)
        while not child.lock.acquire(timeout=_LOOK):
            may_go_on()
        try:
            if not child.ended:  # by whoever asked it before
                yield child
                return
        finally:
            child.lock.release()


def _child(kind: str, bytes_: int) -> Child:
    """The one that runs, or a new one with so much memory."""
    return _children.of(kind, lambda: _started(kind, max(bytes_ >> 20, _LEAST)))


def _started(kind: str, megabytes: int) -> Child:
    seen = {name: value for name, value in os.environ.items() if name.startswith(_SEEN)}
    root = str(Path(__file__).parents[3])  # also of a checkout that isn't installed
    seen["SPARK_USER"] = "dbsp"  # as whom a query is asked, whoever runs the server
    seen["PYTHONPATH"] = os.pathsep.join(filter(None, [root, seen.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "dbsp.queries.beside.worker", kind, str(megabytes)]
    return Child.start(command, seen)
