"""A source that is read without Spark."""

from __future__ import annotations

from typing import Protocol

from dbsp.declared.project.surroundings import Arrived, Files


class Unknown(Exception):
    """Only Spark can say."""


class Source(Protocol):
    """Of a project that is remembered."""

    def check_there(self) -> None:
        """Raises Unknown unless it still has the columns that it had."""

    def news(self, streamed: bool, known: Files) -> tuple[Arrived, int]:
        """What has come since those files, and how many bytes of it are to be read. Raises Unknown."""
