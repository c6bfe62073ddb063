"""What the statements of a project say, as they are written, and where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.datasets import Clause, Place
from dbsp.declared.project.dialect import Read, read_text
from dbsp.declared.spark.changes import changes_start, in_words
from dbsp.declared.spark.scala import option
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, tokens


class Statements:
    """Of the files below a folder. origin: Spark's record of where a definition comes from."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._texts: dict[str, Read] = {}

    def text(self, file: str) -> Read:
        """Of a file in SQL."""
        if file not in self._texts:
            self._texts[file] = read_text((self.root / file).read_text(encoding="utf-8"), file)
        return self._texts[file]

    def place(self, origin: Any, before: str = "") -> Place:
        """before: what of the statement comes before it."""
        file, statement = str(option(origin.filePath())), str(option(origin.sqlText()) or "")
        if not statement:  # of a function in Python
            path = Path(file)
            shorter = path.relative_to(self.root) if path.is_relative_to(self.root) else path
            return Place(str(shorter), int(option(origin.line()) or 1), 1)
        text = self.text(file).text
        return Place(file, *as_it_is(text, file).position(self._start(origin, text, statement) + len(before)))

    def _start(self, origin: Any, text: str, statement: str) -> int:
        """Where a statement begins in its file's text."""
        return max(text.find(statement, max(int(option(origin.startPosition()) or 0) - 1, 0)), 0)

    def query(self, origin: Any) -> tuple[str, Place]:
        """The query of a statement, and where it begins."""
        statement = str(option(origin.sqlText()))
        start = _query_start(statement, self.place(origin))
        return statement[start:], self.place(origin, statement[:start])

    def changes(self, origin: Any) -> tuple[Clause, Clause, Clause]:
        """What the statement of an AUTO CDC flow says."""
        statement = str(option(origin.sqlText()))
        return in_words(statement, lambda at: self.place(origin, statement[:at]))

    def expectations(self, origin: Any) -> tuple[Clause, ...]:
        """Of the dataset that a statement defines."""
        statement = str(option(origin.sqlText()) or "")
        if not statement:
            return ()
        read = self.text(str(option(origin.filePath())))
        start = self._start(origin, read.text, statement)
        return read.within(start, start + len(statement))


def _query_start(statement: str, place: Place) -> int:
    """Where in a CREATE its query begins: after AS, or of a flow after BY NAME; what AUTO CDC reads."""
    cursor = Cursor(source := as_it_is(statement, str(place)), tokens(source))
    depth, flow = 0, False
    while cursor.next.kind != "end":
        token = cursor.take()
        depth += (token.text == "(") - (token.text == ")")
        flow = flow or (token.upper == "FLOW" and depth == 0)
        if depth == 0 and flow and token.upper == "AUTO" and cursor.sees("CDC"):
            return changes_start(statement)
        if depth == 0 and ((token.upper == "AS" and not flow) or (token.upper == "NAME" and flow)):
            return cursor.next.start
    raise ProgramError(f"{place}: not supported yet: this form of a definition")
