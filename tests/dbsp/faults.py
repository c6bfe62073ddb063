"""Something goes wrong at one call to the file system, or at one line. Which there are is found by running.

Every function of `os`, every opened file and every file of Arrow is watched; a call counts if it is about
something under a directory. Python itself says of each file that is opened, renamed or deleted (in audit
events): one that comes from no call that is watched is a hole in the net, and `Calls.missed` has it.
"""

from __future__ import annotations

import builtins
import errno
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Any
from unittest.mock import patch

import pyarrow as pa

# they take numbers and names, but ask no file system
_PURE = {"fspath", "fsencode", "urandom", "getrandom", "kill", "strerror", "_exit", "get_terminal_size"}
_readlink = os.readlink


def full_disk() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt() -> None:
    raise KeyboardInterrupt


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Point:
    """A call: the nth of the driver's own thread, or of all others; before it is made, or after."""

    n: int
    after: bool
    beside: bool = False


@dataclass
class Calls:
    """What was called under `root`. fault: what happens at `point`; fired: whether it came to that."""

    root: str
    fault: Callable[[], None] | None = None
    point: Point | None = None
    driver: list[str] = field(default_factory=list)
    beside: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    fired: bool = False
    _depth: threading.local = field(default_factory=threading.local)
    _main: int = field(default_factory=threading.get_ident)

    def points(self) -> list[Point]:
        """All places where something may go wrong."""
        return [
            Point(n, after, beside)
            for beside, calls in ((False, self.driver), (True, self.beside))
            for n in range(len(calls))
            for after in (False, True)
        ]

    def call(self, name: str, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        beside = threading.get_ident() != self._main
        calls = self.beside if beside else self.driver
        n = len(calls)
        calls.append(name)
        self._fail(Point(n, False, beside))
        self._depth.inside = True
        try:
            result = function(*args, **options)
        finally:
            self._depth.inside = False
        self._fail(Point(n, True, beside))
        return result

    def _fail(self, point: Point) -> None:
        if point == self.point and self.fault is not None:
            self.fired = True
            self.fault()

    def concerns(self, *args: Any) -> bool:
        return any(self._is_under(each) for each in args)

    def _is_under(self, what: Any) -> bool:
        if isinstance(what, bool):
            return False
        if isinstance(what, int):
            with suppress(OSError):
                return _readlink(f"/proc/self/fd/{what}").startswith(self.root)
            return False
        if isinstance(what, (str, os.PathLike)):
            return os.fspath(what).startswith(self.root)
        return False

    def watched(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if getattr(self._depth, "inside", False) or not self.concerns(*args):
                return function(*args, **options)
            result = self.call(name, function, *args, **options)
            return File(self, name, result) if name == "open" else result

        return call

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" or event.startswith("os."):
            inside = getattr(self._depth, "inside", False)
            if not inside and self.concerns(*args[:1]):
                self.missed.append(f"{event} {args[:2]}")


def is_killed(body: Callable[[], object]) -> bool:
    """Whether the body, which runs in a fork of this process, is killed. What it raises ends it."""
    child = os.fork()
    if child == 0:
        gc.disable()  # what threads hold that a fork doesn't have is not its to free
        with suppress(BaseException):
            body()
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL), f"it died of something else: {ended}"
    return ended != 0


class File:
    """An opened file whose every use is a call."""

    def __init__(self, calls: Calls, name: str, file: Any) -> None:
        self._calls, self._name, self._file = calls, name, file

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._file, name)
        if not callable(value) or name in ("fileno", "tell"):
            return value
        return lambda *args: self._calls.call(f"{self._name}.{name}", value, *args)

    def __enter__(self) -> File:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_active: list[Calls] = []


def _audit(event: str, args: tuple[Any, ...]) -> None:
    for calls in _active:
        calls.audit(event, args)


_audited: list[bool] = []


@contextmanager
def watching(
    root: Path, fault: Callable[[], None] | None = None, point: Point | None = None
) -> Iterator[Calls]:
    """Of what the body does; with a fault at a point of it."""
    if not _audited:
        sys.addaudithook(_audit)  # for good: a hook can't be taken away
        _audited.append(True)
    calls = Calls(str(root), fault, point)
    functions = {
        name: function
        for name, function in vars(os).items()
        if (isinstance(function, BuiltinFunctionType) or name == "fsync") and name not in _PURE
    }
    wrapped = {name: calls.watched(f"os.{name}", function) for name, function in functions.items()}
    opened = calls.watched("open", io.open)
    with (
        patch.multiple(os, **wrapped),
        patch.object(io, "open", opened),
        patch.object(builtins, "open", opened),
        patch.object(pa, "memory_map", calls.watched("memory_map", pa.memory_map)),
    ):
        _active.append(calls)
        try:
            yield calls
        finally:
            _active.remove(calls)


def run_at(root: Path, fault: Callable[[], None], point: Point, body: Callable[[], object]) -> None:
    """The body, with a fault at a point of it."""
    with watching(root, fault, point):
        body()


Place = tuple[str, int, int]


@dataclass
class Lines:
    """The places that the body comes by: file, line or instruction, and how often it was there before.

    place: where an interrupt comes.
    """

    packages: tuple[str, ...]
    place: Place | None = None
    instructions: bool = False
    found: dict[Place, None] = field(default_factory=dict)
    fired: bool = False
    _often: dict[tuple[str, int], int] = field(default_factory=dict)

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        if not frame.f_code.co_filename.startswith(self.packages):
            return None
        if self.instructions:
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event in ("line", "opcode"):
            where = (frame.f_code.co_filename, frame.f_lasti if self.instructions else frame.f_lineno)
            if self.instructions:
                where = (f"{where[0]}:{frame.f_code.co_firstlineno}", where[1])
            often = self._often[where] = self._often.get(where, -1) + 1
            self.found[(*where, often)] = None
            if (*where, often) == self.place and not self.fired:
                self.fired = True
                raise KeyboardInterrupt
        return self


@contextmanager
def tracing(
    packages: tuple[str, ...], place: Place | None = None, instructions: bool = False
) -> Iterator[Lines]:
    """Of this thread."""
    lines = Lines(packages, place, instructions)
    before = sys.gettrace()
    sys.settrace(lines)
    try:
        yield lines
    finally:
        sys.settrace(before)
