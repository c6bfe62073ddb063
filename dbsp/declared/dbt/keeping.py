"""The kept models of a run of dbt as one project of declarative pipelines, refreshed at their turns.

FOLDER/spark-pipeline.yml   the project; `dbsp pipeline dry-run --spec` of it says how each model is kept
FOLDER/models/NAME.sql      a definition each, as it was when it was refreshed last
FOLDER/dbsp/                its state

A model whose turn hasn't come stands in the program as it did, if its text is the same and what it reads is
there. One that fails is said at its own turn, and stands there as it did before, as does all that is made of
it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from dbsp.circuits.errors import Error, ProgramError
from dbsp.declared.asked import Asked
from dbsp.declared.dbt.turns import Turns
from dbsp.declared.opening import opened
from dbsp.declared.project.datasets import shown
from dbsp.declared.refresh import Done
from dbsp.declared.spark.spec import read_spec
from dbsp.evolution.evolve import Unfilled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Definitions(Protocol):
    """Of dbt's models, by their names in its graph."""

    def relation(self, name: str) -> str:
        """The model's table, in full."""

    def statement(self, name: str) -> str:
        """CREATE MATERIALIZED VIEW of it. Raises Error."""


@dataclass
class Keeping:
    """Of one run. say: what somebody should know of who waits for a model."""

    spark: SparkSession
    turns: Turns
    definitions: Definitions
    folder: Path
    schema: str
    say: Callable[[str], None]
    done: dict[str, Done] = field(default_factory=dict)
    failed: dict[str, Error] = field(default_factory=dict)
    _one: Lock = field(default_factory=Lock)

    def keep(self, model: str, anew: bool) -> Done:
        """At its turn. anew: whether its table is written from scratch. Raises Error."""
        with self._one:
            ready = self.turns.come(model)
            if model not in self.done and model not in self.failed:
                self._refresh(ready, anew)
            if model in self.failed:
                raise self.failed[model]
            self._check_same(model)
            return self.done[model]

    def _refresh(self, ready: frozenset[str], anew: bool) -> None:
        before = self._before()
        texts, wanted = self._texts(ready - self.failed.keys(), before)
        while wanted:
            self._write(texts)
            try:
                self._run(texts, wanted, anew)
                return
            except Error as error:
                self._write(before)
                owner = next((name for name in texts if str(error).startswith(f"models/{name}.sql:")), None)
                if owner is None or not isinstance(error, ProgramError):  # a step is one for all
                    self.failed |= dict.fromkeys(wanted, error)
                    return
                gone = self.turns.above(owner)
                texts = {name: text for name, text in texts.items() if name not in gone}
                if owner in wanted:
                    texts |= {name: before[name] for name in gone & before.keys()}
                else:  # as when a table that it reads is written now, or wasn't: nobody else waits for that
                    self.say(
                        f"{owner} is computed anew at its next turn, as it can't stay as it was: {error}"
                    )
                self.failed |= dict.fromkeys(wanted & gone, error)
                wanted -= gone

    def _texts(self, ready: frozenset[str], before: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
        """What the program is made of now, and whose tables are to be written."""
        texts, wanted = {}, set()
        for name in self.turns.kept:
            if name in ready:
                try:
                    texts[name] = self.definitions.statement(name)
                    wanted.add(name)
                except Error as error:
                    self.failed[name] = error
            elif name in before and (name not in self.turns.selected or self._is_same(name, before[name])):
                texts[name] = before[name]
        return texts, wanted

    def _is_same(self, name: str, before: str) -> bool:
        try:
            return self.definitions.statement(name) == before
        except Error:  # which its own turn will say
            return False

    def _check_same(self, model: str) -> None:
        """Raises ProgramError for a text that follows from rows: it was compiled before those were there."""
        if not self._is_same(model, self._file(model).read_text(encoding="utf-8")):
            raise ProgramError(
                f"{model}: its text has become another while the run brought up to date what it reads, so it "
                "asks the database while it is compiled; run it once more, or give it materialized='table'"
            )

    def _run(self, texts: Mapping[str, str], wanted: set[str], anew: bool) -> None:
        names = [self.definitions.relation(name) for name in sorted(wanted)]
        new = [self.definitions.relation(name) for name in sorted(wanted - self.done.keys())]
        whole = wanted == texts.keys()
        if anew and whole and not self.done:
            asked = Asked(full_refresh_all=True)
        else:
            full = new if anew else []
            rest = [name for name in names if name not in full]
            asked = Asked(full_refresh=full, refresh=rest if full or not whole else [])
        try:
            done = self._refreshed(asked)
        except Unfilled as error:
            self.say(f"all incremental views are computed anew, once: {error}")
            done = self._refreshed(Asked(full_refresh_all=True, refresh=() if whole else names))
        found = {shown(one.dataset.name).lower(): one for one in done}
        self.done |= {name: found[self.definitions.relation(name).lower()] for name in wanted}

    def _refreshed(self, asked: Asked) -> list[Done]:
        spec = read_spec(str(self.folder / "spark-pipeline.yml"))
        with opened(self.spark, spec, asked, self.say) as refresh:
            return refresh.run(asked)

    # -- the project on the disk --------------------------------------------------------------------

    def _before(self) -> dict[str, str]:
        files = sorted((self.folder / "models").glob("*.sql"))
        return {file.name.removesuffix(".sql"): file.read_text(encoding="utf-8") for file in files}

    def _write(self, texts: Mapping[str, str]) -> None:
        models = self.folder / "models"
        models.mkdir(parents=True, exist_ok=True)
        (self.folder / "spark-pipeline.yml").write_text(
            f"name: dbt\nstorage: {json.dumps(self.folder.as_uri())}\nschema: {json.dumps(self.schema)}\n"
            "libraries:\n  - glob:\n      include: models/**\n",
            encoding="utf-8",
        )
        for name in self._before().keys() - texts.keys():
            self._file(name).unlink()
        for name, text in texts.items():
            self._file(name).write_text(text, encoding="utf-8")

    def _file(self, name: str) -> Path:
        return self.folder / "models" / f"{name}.sql"
