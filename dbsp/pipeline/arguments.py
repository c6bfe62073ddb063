"""The arguments of a pipeline, looked at before anything is opened."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from dbsp.circuits.errors import DataError, Error
from dbsp.state.store import VERIFY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("dbsp")

# of a change of program: what nothing holds is read again where it came from
FROM_SOURCE = "from-source"


def check_arguments(
    program: object,
    sql: str | None,
    spark: SparkSession | None,
    runner: str,
    verify: str,
    partitions: int | None,
    max_undelivered: int,
    evolve: bool,
    backfill: str | None,
) -> None:
    """Raises Error for what no pipeline can be made with."""
    check_backfill(backfill)
    if backfill and not evolve:
        raise Error(f"backfill='{backfill}' is a way to change a program: give evolve=True, too")
    if (program is None) == (sql is None):
        raise Error(
            'a pipeline has either a program file or sql: Pipeline("program.sql") or Pipeline(sql="...")'
        )
    _check_names(program, sql)
    if spark is not None:
        from dbsp.sql.catalyst import check_classic, other_meaning  # noqa: PLC0415  a known program needs nothing

        check_classic(spark)
        if (other := other_meaning(spark.conf.get)) is not None:
            log.warning("the session has %s; here queries mean what they do with %s", *other)
    if runner not in ("spark", "inline"):
        raise Error(f"unknown runner '{runner}'; runners: spark, inline")
    if verify not in VERIFY:
        raise Error(f"verify='{verify}'; there is: {', '.join(VERIFY)}")
    if partitions is not None and partitions < 1:
        raise Error(f"partitions={partitions}: needs at least 1")
    if max_undelivered < 0:
        raise Error(f"max_undelivered={max_undelivered}: needs at least 0")


def check_backfill(backfill: str | None) -> None:
    """Raises Error for another word than there is."""
    if backfill not in (None, FROM_SOURCE):
        raise Error(f"backfill='{backfill}'; there is: {FROM_SOURCE}")


def check_frame(table: str, rows: object) -> None:
    """Raises DataError for rows that are a DataFrame of Spark Connect, which this process can't read."""
    if type(rows).__module__.startswith("pyspark.sql.connect."):
        raise DataError(
            f"table '{table}': a DataFrame of Spark Connect is elsewhere; give its rows: df.toArrow()"
        )


def _check_names(program: object, sql: str | None) -> None:
    """A file's name and a program's text are easily mistaken for each other."""
    if isinstance(program, str) and ("\n" in program.strip() or program.rstrip().endswith(";")):
        raise Error('program is the name of a file; give the text itself as Pipeline(sql="...")')
    if sql is not None and len(sql.split()) == 1 and ";" not in sql:
        raise Error(f'sql is a program\'s text; give the name of a file as Pipeline("{sql.strip()}")')
