"""Reading calls by their tokens, and rewriting them inside out: what a call's arguments hold comes first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.sql.spellings.rewriting import Edit, rewritten
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, Token


@dataclass(frozen=True)
class Argument:
    """Tokens first to stop − 1 (numbers of tokens). name: before `=>`, in lower case, or ''."""

    first: int
    stop: int
    name: str = ""


@dataclass
class CallReader(ABC):
    """tokens: of the text, and one of kind 'end'."""

    source: Source
    tokens: list[Token]

    @abstractmethod
    def edit(self, at: int) -> tuple[Edit | None, int]:
        """(the edit of what begins at a token, the token after it); None where nothing does."""

    def edits(self, first: int, stop: int) -> list[Edit]:
        """Of all calls among tokens first to stop − 1 that aren't Spark's."""
        found: list[Edit] = []
        at = first
        while at < stop:
            edit, after = self.edit(at)
            if edit is not None:
                found.append(edit)
            at = after
        return found

    def opens(self, at: int) -> bool:
        """Whether the token is the name of a call."""
        return self.tokens[at + 1].text == "("

    def slice(self, first: int, stop: int) -> Slice:
        """The tokens' text, with its own calls rewritten."""
        return rewritten(self.source, self.plain(Argument(first, stop)), self.edits(first, stop))

    def plain(self, argument: Argument) -> Slice:
        """An argument's text, as the user wrote it."""
        start, end = self.tokens[argument.first].start, self.tokens[argument.stop - 1].stop
        return Slice(self.source.text[start:end], start)

    def arguments(self, at: int) -> tuple[list[Argument], int]:
        """(arguments of the call at a token, the token after its closing parenthesis)."""
        found: list[Argument] = []
        depth, first = 0, at + 2
        for i in range(at + 1, len(self.tokens)):
            text = self.tokens[i].text
            depth += (text == "(") - (text == ")")
            if (depth == 0 or (depth == 1 and text == ",")) and i >= first:
                if i > first:
                    found.append(self._named(first, i))
                first = i + 1
            if depth == 0:
                return found, i + 1
        raise self.source.error(self.tokens[at].start, f"'{self.tokens[at].text}(' is never closed")

    def _named(self, first: int, stop: int) -> Argument:
        tokens = self.tokens
        if stop - first > 3 and tokens[first + 1].text == "=" and tokens[first + 2].text == ">":
            return Argument(first + 3, stop, tokens[first].text.lower())
        return Argument(first, stop)

    def replace(self, at: int, after: int, parts: Sequence[str | Slice]) -> Edit:
        """The edit that puts the parts in the place of tokens at to after − 1."""
        return Edit(self.tokens[at].start, self.tokens[after - 1].stop, tuple(parts))

    def error(self, at: int, message: str) -> Exception:
        """A ProgramError at a token."""
        return self.source.error(self.tokens[at].start, message)
