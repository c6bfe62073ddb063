"""What is wrong with a running program, or may become so, each at the line of its text that it is about.

    note      what of the text says nothing here; what a format of a source may lose
    warning   state that grows without a bound; rows that came too late; rows that no table takes
    error     steps that a sink is without; why no step is made

Those of the program are known before it runs; late rows are counted by this process, bad ones are those that
the state holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.operators.inputs.bad import BAD_ROWS
from dbsp.circuits.operators.inputs.late import LATE_ROWS
from dbsp.serving.page.graph import relations_of
from dbsp.serving.page.text import shown_statements, without_users
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.shown.bounds import bounds
from dbsp.views.explained.checks import notes
from dbsp.views.view import Contents

NOTE, WARNING, ERROR = "note", "warning", "error"


@dataclass(frozen=True)
class Problem:
    """line: from 1."""

    line: int
    kind: str
    text: str


class Problems:
    """Of one program."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._lines = {
            one.name.lower(): one.lines[0] for one in reversed(shown_statements(program)) if one.name
        }
        for insert in program.inserts:  # of whose query nobody has said a name
            self._lines.setdefault(insert.view.lower(), self._place(insert.location) or 1)
        self._of_program = [*self._noted(), *self._growing()]

    def found(
        self, late: Mapping[str, int], bad: Contents | None, undelivered: Mapping[str, int], trouble: str
    ) -> list[Problem]:
        """By line. late: rows by relation. bad: the view of bad rows, where there is one. undelivered: steps
        by sink. trouble: why no step is made.
        """
        now = [*self._late(late), *self._bad(bad), *self._undelivered(undelivered), *self._troubled(trouble)]
        return sorted([*self._of_program, *now], key=lambda one: one.line)

    def _noted(self) -> Iterator[Problem]:
        for said in notes(self._program):
            name, _, text = said.partition(": ")
            if name.startswith("table "):
                yield Problem(self._line(name.removeprefix("table ")), NOTE, text)
            elif at := self._place(name):
                yield Problem(at, NOTE, text)

    def _growing(self) -> Iterator[Problem]:
        relations = relations_of(self._program)
        for bound in bounds(self._program):
            if not bound.is_bounded:
                line = self._line(relations.get(bound.number, ""))
                yield Problem(line, WARNING, f"{bound.operator} {bound.keeps}: {bound.hint}")

    def _late(self, late: Mapping[str, int]) -> Iterator[Problem]:
        for relation, rows in late.items():
            if rows:
                text = f"{_counted(rows, 'row')} came too late and {_are(rows)} in {LATE_ROWS}"
                yield Problem(self._line(relation), WARNING, text)

    def _bad(self, bad: Contents | None) -> Iterator[Problem]:
        if bad is None:
            return
        parts = [pa.table({"of": part.rows.column(0), "rows": part.weights}) for part in bad.parts]
        held = pa.concat_tables(parts).group_by("of").aggregate([("rows", "sum")]) if parts else pa.table({})
        for one in held.to_pylist():
            rows = one["rows_sum"]
            if rows:
                text = f"{_counted(rows, 'row')} of its source can't be read and {_are(rows)} in {BAD_ROWS}"
                yield Problem(self._line(one["of"]), WARNING, text)

    def _undelivered(self, undelivered: Mapping[str, int]) -> Iterator[Problem]:
        for sink, steps in undelivered.items():
            if steps:
                for insert in self._program.inserts:
                    if insert.target == sink:
                        text = f"{sink} is without the last {_counted(steps, 'step')}"
                        yield Problem(self._place(insert.location) or self._line(sink), ERROR, text)

    def _troubled(self, trouble: str) -> Iterator[Problem]:
        if trouble:
            words = [word.lower() for word in re.findall(r"[\w.]+", trouble)]
            named = next((word for word in words if word in self._lines), "")
            yield Problem(self._place(trouble) or self._line(named), ERROR, without_users(trouble))

    def _line(self, relation: str) -> int:
        return self._lines.get(relation.lower(), 1)

    def _place(self, said: str) -> int | None:
        """The line that a message begins with."""
        at = re.match(rf"{re.escape(self._program.name)}:(\d+):", f"{said}:")
        return int(at[1]) if at else None


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
