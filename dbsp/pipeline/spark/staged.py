"""The rows that a source gives, read by its table's rules and staged as segments."""

from __future__ import annotations

from pyspark.sql import DataFrame

from dbsp.pipeline.deltas.absences import origin_of
from dbsp.pipeline.spark.bad_rows import MARKS, Keeping
from dbsp.pipeline.spark.records import Records
from dbsp.pipeline.spark.staging import STAGED, Rows, Staging, check, without_unread
from dbsp.running.spark.intervals import with_integers
from dbsp.sql.plans.program import ENVELOPES, Table


def staged(
    opened: DataFrame, relation: int, table: Table, timezone: str, place: str, read: frozenset[int]
) -> DataFrame:
    """STAGED of a frame as `open_source` gives it. relation: the number of the table. place: see `Segments`.

    read: the columns that something reads. Raises DataError for columns that don't fit the table.
    """
    reader = Records(table, timezone) if table.changelog else Rows(table, 1, timezone)
    frame = with_integers(opened)
    keeping = Keeping(table, origin_of(table)) if table.keeps_bad_rows else None
    check(reader, frame.drop(*MARKS))
    # a text is bad whoever reads its columns; those of an envelope are within others
    if table.changelog not in ENVELOPES and keeping is None:
        frame = without_unread(frame, table, read)
    return frame.mapInArrow(Staging(place, relation, reader, keeping), STAGED)
