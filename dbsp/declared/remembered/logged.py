"""A source with a log, read without Spark as with it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from dbsp.circuits.errors import Error
from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Logged
from dbsp.declared.project.surroundings import Arrived, Files
from dbsp.declared.remembered.source import Unknown


@dataclass(frozen=True)
class LoggedSource:
    """name: as people write it. schema: as rows of the table are. columns: of its log, as the project has
    been read with.
    """

    name: str
    table: Logged
    schema: pa.Schema
    columns: str

    def check_there(self) -> None:
        """See `Source`."""
        try:
            if log_of(self.name, self.table).schema() != self.columns:
                raise Unknown
        except Error as error:
            raise Unknown from error

    def news(self, streamed: bool, known: Files) -> tuple[Arrived, int]:
        """See `Source`; what is wrong with the log is said where Spark can be asked, too."""
        try:
            changed = log_of(self.name, self.table).look(self.schema, streamed, known, False)
        except Error as error:
            raise Unknown from error
        if changed.altered or changed.whole:
            raise Unknown
        return changed.arrived(known, lambda rows: rows.table()), changed.size
