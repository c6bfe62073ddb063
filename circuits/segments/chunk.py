"""A chunk: where a batch lies in a segment, and what is known of it without reading it."""

from __future__ import annotations

from dataclasses import dataclass

from dbsp.circuits.errors import StateError


@dataclass(frozen=True, slots=True)
class Chunk:
    """rows of one batch at bytes [offset, offset + length) of a segment; sort keys in [low, high].

    checksum: xxh3_64 of these bytes. tops: for each limit of the trace's retention, the greatest value in
    the chunk (see `retain.tops`).
    """

    segment: str
    offset: int
    length: int
    rows: int
    low: int = 0
    high: int = 0
    tops: tuple[int | None, ...] = ()
    checksum: int = 0

    def to_json(self) -> list[object]:
        place = [self.segment, self.offset, self.length, self.checksum]
        return [*place, self.rows, self.low, self.high, *self.tops]

    @staticmethod
    def from_json(value: list[object]) -> Chunk:
        segment, offset, length, checksum, rows, low, high, *tops = value
        if not is_name(segment):
            raise StateError(
                f"a chunk is said to be in '{segment}', which is no segment; the record is damaged"
            )
        return Chunk(segment, offset, length, rows, low, high, tuple(tops), checksum)  # type: ignore[arg-type]


def is_name(segment: object) -> bool:
    """Whether it can be a file of the directory of segments, and of no other."""
    return isinstance(segment, str) and segment not in ("", ".", "..") and not {"/", "\\", "\0"} & {*segment}
