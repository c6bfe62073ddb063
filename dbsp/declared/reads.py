"""Which files of its sources a state has the rows of, known exactly: beside the step that has read them.

Before a step its files are noted under a key, which the step's record has, too. So after a crash the record
says whether they are read.
"""

from __future__ import annotations

import ast
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dbsp.circuits.disk import disk
from dbsp.circuits.errors import StateError
from dbsp.declared.project.datasets import Dataset, Project, shown
from dbsp.declared.project.dialect import asks_for_nothing
from dbsp.declared.project.surroundings import Files
from dbsp.pipeline.pipeline import Pipeline
from dbsp.state.records.commits import write_whole
from dbsp.state.records.places import Place


@dataclass
class Reads:
    """path: of the record. known: per table its files; None: it isn't of files. writer: the state's name.

    streams: the queries of its streaming tables.
    """

    path: Place
    known: dict[str, Files | None] = field(default_factory=dict)
    writer: str = ""
    streams: dict[str, str] = field(default_factory=dict)

    def check_streams(self, project: Project) -> None:
        """Raises StateError for a streaming table of another query: its rows stay, a view's would change.

        A flow may come to others: it reads its sources from their start.
        """
        before = (self._read(self.path) or {}).get("streams", {})
        for name, query in _streams(project).items():
            had, has = (
                set(map(_heeded, ast.literal_eval(said))) for said in (before.get(name, query), query)
            )
            if not had <= has or (had != has and name in _of_changes(project)):
                raise StateError(
                    f"not supported yet: streaming table {name} has another query than before, for rows that "
                    "are to come; --full-refresh-all computes all of them anew"
                )

    def open(self, pipeline: Pipeline) -> None:
        """What the pipeline's last step knows."""
        kept = self._read(self.path)
        if kept is None or not pipeline.last_step:  # a new state has read nothing, and written no table
            self.writer = secrets.token_hex(8)
            self._keep({})
        else:
            self.known, self.writer, self.streams = kept["known"], kept["writer"], kept["streams"]
        begun = self._read(self._next)
        if begun is not None:
            if pipeline.requested(begun["key"]) is not None:
                self._keep(begun["known"])
            self._forget_next()
        there = pipeline.program.inputs
        if not self.known.keys() <= there.keys():  # the state has let go of their rows
            self._keep({name: files for name, files in self.known.items() if name in there})

    def note_streams(self, project: Project) -> None:
        """That the state's streaming tables are those of the project."""
        if self.streams != _streams(project):
            self.streams = _streams(project)
            self._keep(self.known)

    def step(self, pipeline: Pipeline, read: Mapping[str, Files | None]) -> None:
        """Make a step of what is queued, which is what those tables have. Raises as `Pipeline.step`."""
        key = secrets.token_hex(16)
        known = {**self.known, **read}
        with disk(self.path.parent):
            write_whole(self._next, json.dumps({"key": key, "known": known}).encode())
        pipeline.step(request=key)
        self._keep(known)
        self._forget_next()

    def note(self, read: Mapping[str, Files | None]) -> None:
        """Files that have no row."""
        if any(self.known.get(name, {}) != files for name, files in read.items()):
            self._keep({**self.known, **read})

    def _keep(self, known: dict[str, Files | None]) -> None:
        with disk(self.path.parent):
            record = {"writer": self.writer, "known": known, "streams": self.streams}
            write_whole(self.path, json.dumps(record).encode())
        self.known = known

    def _forget_next(self) -> None:
        with disk(self.path.parent):
            self._next.unlink(missing_ok=True)

    @property
    def _next(self) -> Place:
        return self.path.parent / "reads.next.json"

    @staticmethod
    def _read(path: Place) -> Any:
        with disk(path):
            try:
                return json.loads(path.read_bytes())
            except FileNotFoundError:
                return None


def _streams(project: Project) -> dict[str, str]:
    """Of each streaming table its flows, each under the expectations of all."""
    return {shown(one.name): repr(_parts(one)) for one in project.refreshed if one.is_streaming}


def _parts(dataset: Dataset) -> list[tuple[str, ...]]:
    expected = tuple(clause.text for clause in dataset.expectations)
    return [(flow.query, flow.catalog, flow.database, *expected) for flow in dataset.flows]


def _heeded(part: tuple[str, ...]) -> tuple[str, ...]:
    """A flow without the expectations that only count, as they come and go."""
    query, catalog, database, *expected = part
    return query, catalog, database, *(text for text in expected if not asks_for_nothing(text))


def _of_changes(project: Project) -> set[str]:
    return {shown(one.name) for one in project.refreshed if any(flow.changes for flow in one.flows)}
