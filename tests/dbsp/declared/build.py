"""Small projects in a database of their own, beside the run's session."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dbsp.declared.asked import Asked
from dbsp.declared.opening import opened, plan_project
from dbsp.declared.refresh import Done, Refresh
from dbsp.declared.spark.spec import Spec, read_spec

_NUMBERS = itertools.count(1)


@dataclass
class Small:
    """A project of one SQL file. database: of its tables, in use."""

    spark: object
    folder: Path
    database: str

    def write(self, sql: str, name: str = "definitions.sql") -> Spec:
        """The spec of a project with that text."""
        (self.folder / "definitions").mkdir(exist_ok=True)
        (self.folder / "definitions" / name).write_text(sql, encoding="utf-8")
        path = self.folder / "spark-pipeline.yml"
        path.write_text(
            f"name: small\nstorage: file://{self.folder}/storage\nschema: {self.database}\n"
            "libraries:\n  - glob:\n      include: definitions/**\n"
        )
        return read_spec(str(path))

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement)

    def rows(self, table: str) -> list[tuple]:
        """All of a table's, sorted."""
        return sorted((tuple(row) for row in self.spark.table(table).collect()), key=repr)

    def plan(self, sql: str):
        return plan_project(self.spark, self.write(sql))

    @contextmanager
    def opened(self, sql: str, **asked: object) -> Iterator[Refresh]:
        with opened(self.spark, self.write(sql), Asked(**asked)) as refresh:
            yield refresh

    def run(self, sql: str, **asked: object) -> dict[str, Done]:
        """One refresh: by the last part of their names, what became of the datasets."""
        with self.opened(sql, **asked) as refresh:
            return by_name(refresh.run(Asked(**asked)))


def by_name(done: list[Done]) -> dict[str, Done]:
    return {one.dataset.name.split("`")[-2]: one for one in done}


@contextmanager
def small(session, folder: Path) -> Iterator[Small]:
    spark = session.newSession()  # where no view of another test stands before a table
    database, before = f"declared_{next(_NUMBERS)}", spark.catalog.currentDatabase()
    spark.sql(f"CREATE DATABASE {database} LOCATION '{folder}/warehouse'")
    spark.sql(f"USE {database}")
    try:
        yield Small(spark, folder, database)
    finally:
        spark.sql(f"USE {before}")
        spark.sql(f"DROP DATABASE {database} CASCADE")
