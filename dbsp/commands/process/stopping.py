"""Signals that end a command: SIGINT (Ctrl-C) and SIGTERM are raised, so that what is open is closed."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopped(KeyboardInterrupt):
    """A signal that ends the process; status: what a shell calls the end by it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def status(self) -> int:
        return 128 + self.number

    def __str__(self) -> str:
        word = "terminated" if self.number == signal.SIGTERM else "interrupted"
        return f"{word}; a state directory is as its last committed step left it"


class Interruption:
    """What a signal has ended, if one has: whatever fails from then on fails of that."""

    def __init__(self) -> None:
        self.by: Stopped | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """The answer to a signal. Raises Stopped."""
        self.by = Stopped(number)
        raise self.by


# Of the process, as its signals are.
stop_at_once = Interruption()


@contextmanager
def stoppable() -> Iterator[Interruption]:
    """Within, both signals raise Stopped in the main thread.

    What closes after one can be interrupted by the next anywhere, between a request to the JVM and its
    answer too; so an error that follows says nothing of its own.
    """
    stop_at_once.by = None
    if threading.current_thread() is not threading.main_thread():
        yield stop_at_once
        return
    before = {number: signal.signal(number, stop_at_once) for number in SIGNALS}
    try:
        yield stop_at_once
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_at_once() -> None:
    """From here on both signals end the process, without a word: there is nothing left to close."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def stopping(note: Callable[[str], None]) -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets, and SIGTERM; the next Ctrl-C interrupts."""
    if stop_at_once.by is not None:  # raised where nothing can be, as within a finalizer: it still holds
        raise stop_at_once.by
    stop = threading.Event()

    def ask(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            stop_at_once(number, frame)
        stop.set()
        note("stopping after this step; Ctrl-C again to stop at once")

    before = {number: signal.signal(number, ask) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
