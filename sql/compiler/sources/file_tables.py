"""Files that a query names in the place of a table: the program has a table of each, as Spark finds it.

    CREATE VIEW v AS SELECT * FROM 'in/orders.csv' o

    CREATE TABLE orders (id INT, ...) USING csv OPTIONS (path 'in/orders.csv', ...) WITH (append_only = true);
    CREATE VIEW v AS SELECT * FROM orders o

It becomes part of the program's text: so a state directory has it, and where the files' columns are others,
the program is another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst import column_definitions, read_files
from dbsp.sql.spellings.file_relations import FileRelation, file_relations
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Token, tokens

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BEFORE_NAMES = ("TABLE", "VIEW", "STREAM", "EXISTS", "FROM", "JOIN")


def with_file_tables(source: Source, spark: SparkSession) -> Source:
    """The program with a table for each file. Raises ProgramError for files that can't be read."""
    found = file_relations(source)
    names = table_names(source, found)
    tables = []
    for path, name in names.items():
        relation = next(one for one in found if one.path == path)
        columns = ", ".join(_columns(source, relation, spark))
        options = ", ".join(f"{key} {_quoted(value)}" for key, value in _options(relation).items())
        text = f"CREATE TABLE `{name}` ({columns}) USING {relation.format} OPTIONS ({options})"
        tables.append((0, 0, f"{text} WITH (append_only = true); ", relation.token.start))
    return source.replaced([*tables, *replacements(found, names)])


def replacements(found: Sequence[FileRelation], names: dict[str, str]) -> list[tuple[int, int, str, int]]:
    """Each file by its table's name: edits of `Source.replaced`."""
    places = [(one.token, names[one.path]) for one in found]
    return [(token.start, token.stop, f"`{name}`", token.start) for token, name in places]


def table_names(source: Source, found: Sequence[FileRelation], known: Iterable[str] = ()) -> dict[str, str]:
    """By the path: the stem of the file's name, or the next of that name that no relation has.

    known: names of others.
    """
    taken = {name.lower() for name in known} | set(_relations(tokens(source)))
    names: dict[str, str] = {}
    for one in found:
        if one.path not in names:
            names[one.path] = next(name for name in _candidates(one.stem) if name.lower() not in taken)
            taken.add(names[one.path].lower())
    return names


def _relations(found: Sequence[Token]) -> Iterator[str]:
    """Names that are defined or read as relations, in lower case: `CREATE VIEW n`, `FROM n`, `n AS (`."""
    for before, token, after, last in zip(found, found[1:], found[2:], [*found[3:], found[-1]], strict=False):
        is_defined = after.upper == "AS" and last.text == "("
        if token.kind in ("word", "quoted") and (before.upper in _BEFORE_NAMES or is_defined):
            yield token.text.strip("`").lower()


def _candidates(stem: str) -> Iterator[str]:
    stem = f"_{stem}" if stem[0].isdigit() else stem
    yield stem
    yield f"{stem}_files"
    number = 2
    while True:
        yield f"{stem}_{number}"
        number += 1


def _options(relation: FileRelation) -> dict[str, str]:
    """What a file says that differs from what others have said must not become a NULL."""
    options = {"path": relation.path}
    if relation.format == "csv":
        options |= {"header": "true", "mode": "FAILFAST"}
        if relation.is_tabbed:
            options["sep"] = "\\t"
    if relation.format == "json":
        options["mode"] = "FAILFAST"
    return options


def _quoted(value: str) -> str:
    return "'" + value.replace("'", "\\'") + "'"


def read_once(source: Source, relation: FileRelation, spark: SparkSession) -> DataFrame:
    """The rows that the files have now, with the columns that Spark finds. Raises ProgramError."""
    options = {key: value for key, value in _options(relation).items() if key != "path"}
    try:
        return read_files(spark, relation.path, relation.format, options)
    except Error as error:
        raise source.error(relation.token.start, str(error)) from None


def _columns(source: Source, relation: FileRelation, spark: SparkSession) -> list[str]:
    return column_definitions(read_once(source, relation, spark))
