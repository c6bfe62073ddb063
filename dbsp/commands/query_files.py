"""Files in the place of a query's relations, which Spark reads: `SELECT * FROM 'orders.csv' o`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from dbsp.running.spark.intervals import quoted
from dbsp.sql.catalyst import Catalyst
from dbsp.sql.compiler.queries.query import QUERY
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.compiler.sources.file_tables import read_once, replacements, table_names
from dbsp.sql.spellings.file_relations import FileRelation
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def over_files(
    source: Source, files: list[FileRelation], spark: SparkSession, views: Iterable[str] = ()
) -> str:
    """The query in Spark's spelling, whose session has a view of each file. Raises ProgramError.

    views: names that it may read beside them.
    """
    names = table_names(source, files, views)
    for path, name in names.items():
        relation = next(one for one in files if one.path == path)
        read_once(source, relation, spark).createOrReplaceTempView(quoted(name))
    named = source.replaced(replacements(files, names))
    scope = Scope(named, Catalyst(spark), frozenset({QUERY}), frozenset(), reading=True)
    return in_sparks_spelling(named, Slice(named.text, 0), scope.microseconds, scope.version_time).text
