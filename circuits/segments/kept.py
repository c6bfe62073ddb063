"""What was made of chunks, kept for who asks for the same ones again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence, Set
from threading import Lock
from typing import Any, TypeVar

from dbsp.circuits.segments.chunk import Chunk

Opened = TypeVar("Opened")


class KeptOpen:
    """At most `capacity` things, those asked for last; merges ask beside the step.

    The same first chunk and number of chunks are the same chunks: a chunk lies in one run all its life.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._opened: OrderedDict[Hashable, tuple[set[str], Any]] = OrderedDict()
        self._keys: dict[str, set[Hashable]] = {}  # of what is opened, by segment
        self._lock = Lock()

    def get(self, chunks: Sequence[Chunk], cut: Hashable, read: Callable[[], Opened]) -> Opened:
        """What `read` makes of chunks, made once for each `cut`."""
        key = _key(chunks, cut)
        with self._lock:
            kept = self._opened.get(key)
            if kept is not None:
                self._opened.move_to_end(key)
                return kept[1]  # type: ignore[no-any-return]
        opened = read()
        self.put(chunks, cut, opened)
        return opened

    def if_there(self, chunks: Sequence[Chunk], cut: Hashable) -> object:
        """What was made of them; None: nothing."""
        with self._lock:
            kept = self._opened.get(_key(chunks, cut))
        return None if kept is None else kept[1]

    def put(self, chunks: Sequence[Chunk], cut: Hashable, opened: object) -> None:
        """`opened` is what reading these chunks gives: they needn't be read."""
        key, names = _key(chunks, cut), {chunk.segment for chunk in chunks}
        with self._lock:
            self._opened[key] = names, opened
            for name in names:
                self._keys.setdefault(name, set()).add(key)
            if len(self._opened) > self._capacity:
                self._drop(next(iter(self._opened)))

    def let_go(self, chunks: Sequence[Chunk], cut: Hashable) -> None:
        """Nobody is likely to ask for these again: they are read if somebody does."""
        with self._lock:
            if (key := _key(chunks, cut)) in self._opened:
                self._drop(key)

    def forget(self, segments: Set[str]) -> None:
        """Drop what was made of these."""
        with self._lock:
            for segment in segments:
                for key in [*self._keys.get(segment, ())]:
                    self._drop(key)

    @property
    def segments(self) -> Set[str]:
        """Of which something is kept."""
        return self._keys.keys()

    def _drop(self, key: Hashable) -> None:
        """Under the lock."""
        for name in self._opened.pop(key)[0]:
            keys = self._keys[name]
            keys.discard(key)
            if not keys:
                del self._keys[name]


def _key(chunks: Sequence[Chunk], cut: Hashable) -> Hashable:
    return chunks[0].segment, chunks[0].offset, len(chunks), cut
