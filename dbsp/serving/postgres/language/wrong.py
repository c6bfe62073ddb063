"""What a statement can't have, by PostgreSQL's number for it."""

from __future__ import annotations

from dbsp.serving.answers import Refused


class Wrong(Refused):
    """code: SQLSTATE. position: the character of the client's text that it is about, from 1; 0: of none."""

    def __init__(self, code: str, message: str, position: int = 0) -> None:
        super().__init__(400, message)
        self.code, self.position = code, position


class BadCopy(Wrong):
    """What isn't COPY's format, or no value of its column."""

    def __init__(self, message: str) -> None:
        super().__init__("22P04", message)
