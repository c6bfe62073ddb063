"""A query's text in another spelling, each character still knowing its place in the user's file.

Pieces of the user's text are kept as they are; what is put between them stands for all that it replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Piece, Slice


@dataclass(frozen=True)
class Edit:
    """Instead of source.text[start:stop]: strings, and slices of the user's text."""

    start: int
    stop: int
    parts: tuple[str | Slice, ...]


def rewritten(source: Source, text: Slice, edits: Sequence[Edit]) -> Slice:
    """The slice, as the user wrote it, with the edits made. edits: in order, none inside another."""
    if not edits:
        return text
    pieces: list[Piece] = []
    at = text.start
    for edit in edits:
        pieces.append(Piece(source.text[at : edit.start], at, edit.start, True))
        for part in edit.parts:
            if isinstance(part, str):
                pieces.append(Piece(part, edit.start, edit.stop, False))
            else:
                pieces += part.pieces
        at = edit.stop
    pieces.append(Piece(source.text[at : text.stop], at, text.stop, True))
    kept = tuple(piece for piece in pieces if piece.text)
    return Slice("".join(piece.text for piece in kept), text.start, kept, text.stop)
