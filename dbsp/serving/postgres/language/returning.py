"""INSERT, UPDATE and DELETE ... RETURNING: what a statement gives of the rows that it writes.

of INSERT and UPDATE the rows as they are then        of DELETE as they were
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.serving.postgres.language.spelling import Cursor, Word, spark_text
from dbsp.sql.text.tokens import begins_at, quoted

_OF = {"INSERT": ("INSERT", "INTO"), "UPDATE": ("UPDATE",), "DELETE": ("DELETE", "FROM")}
_AFTER_COLUMN = (")", ",", ".", "[", "::")


@dataclass(frozen=True)
class Returning:
    """verb: the statement's. table: by its name, in lower case. name: by which the statement calls a row of
    it. listed: the words of what is asked for.
    """

    verb: str
    table: str
    name: str
    listed: tuple[Word, ...]

    @property
    def columns(self) -> list[str] | None:
        """Where it is nothing but columns: their names, in lower case; [] for `*`; None: more than that."""
        if [word.text for word in self.listed] == ["*"]:
            return []
        said, found = Cursor(self.listed), []
        while True:
            column = said.name()
            if column in (self.table, self.name) and said.takes("."):
                column = said.name()
            if column is None:
                return None
            found.append(column)
            if said.is_over:
                return found
            if not said.takes(","):
                return None

    @property
    def asks_others(self) -> bool:
        """Whether it is a query of more than the rows that were written."""
        if any(word.upper in ("SELECT", "FROM", "OVER") for word in self.listed):
            return True
        followed = zip(self.listed, self.listed[1:], self.listed[2:], strict=False)
        return any(
            # before these it is a column of that name
            before.text == "(" and word.upper in ("VALUES", "TABLE") and after.text not in _AFTER_COLUMN
            for before, word, after in followed
        )

    def select(self, values: Sequence[str] = ()) -> str:
        """The same of a relation of the table's name. values: the parameters' literals."""
        relation = f"{quoted(self.table.split('.'))} AS {quoted([self.name])}"
        return f"SELECT {spark_text(self.listed, values)} FROM {relation}"


def split_returning(words: Sequence[Word]) -> tuple[Sequence[Word], Returning | None]:
    """(the statement without it, what it returns)"""
    start = begins_at(words)
    if not words or words[start].upper not in _OF:
        return words, None
    depth = 0
    for at, word in enumerate(words):
        depth += (word.text == "(") - (word.text == ")") if word.kind == "symbol" else 0
        if depth == 0 and word.upper == "RETURNING" and at + 1 < len(words):
            verb = words[start].upper
            said = Cursor(words[start:])
            said.takes(*_OF[verb])
            table = said.relation() or ""
            while said.takes("."):
                table += f".{said.name()}"
            named = said.takes("AS") or (
                verb != "INSERT" and said.next.upper not in ("SET", "WHERE", "USING", "RETURNING")
            )
            name = said.name() if named else None
            return words[:at], Returning(
                verb, table, name or table.rpartition(".")[2], tuple(words[at + 1 :])
            )
    return words, None
