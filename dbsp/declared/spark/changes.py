"""The statement of an AUTO CDC flow: what Spark has resolved of it, and the author's words for the rest.

FROM source KEYS (…) [APPLY AS DELETE WHEN condition] SEQUENCE BY expression [COLUMNS …] …
"""

from __future__ import annotations

from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dbsp.circuits.errors import ProgramError
from dbsp.declared.project.changes import DELETES, SEQUENCE
from dbsp.declared.project.datasets import Changes, Clause, Place
from dbsp.declared.spark.scala import each, option
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Cursor, tokens

_SOURCE, _DELETES, _SEQUENCE = "FROM", "APPLY AS DELETE WHEN", "SEQUENCE BY"
# what begins a clause, outside of parentheses; the shorter ones only before what can follow them
_CLAUSES = (
    *(_SOURCE, "KEYS (", _DELETES, _SEQUENCE),
    *("COLUMNS (", "COLUMNS * EXCEPT", "STORED AS SCD TYPE", "TRACK HISTORY ON"),
)
# that a result has behind the source's columns
_OWN, _OWN_OF_HISTORY = 1, 3


def clauses(statement: str) -> dict[str, tuple[int, int]]:
    """By its first words, where each clause begins and ends after them."""
    source = as_it_is(statement, "statement")
    cursor = Cursor(source, tokens(source))
    begun, found, depth, flow = "", {}, 0, False
    start = 0
    while cursor.next.kind != "end":
        words = _begins(cursor) if depth == 0 and flow else None
        # the source comes first; after that a FROM is one of IS DISTINCT FROM
        if words is not None and (words == _SOURCE) != bool(begun):
            if begun:
                found[begun] = (start, cursor.next.start)
            for _ in words.split():
                start = cursor.take().stop
            depth += words.endswith("(")
            begun = words
            continue
        token = cursor.take()
        depth += (token.text == "(") - (token.text == ")")
        flow = flow or (token.upper == "AUTO" and cursor.sees("CDC"))
    found[begun] = (start, cursor.next.start)
    return found


def changes_start(statement: str) -> int:
    """Where it says what is read."""
    start, _ = clauses(statement)[_SOURCE]
    return start - len(_SOURCE)


def _begins(cursor: Cursor) -> str | None:
    """The words of the clause that begins at the cursor."""
    for words in _CLAUSES:
        if all(cursor.ahead(i).upper == word for i, word in enumerate(words.split())):
            return words
    return None


def in_words(statement: str, place: Any) -> tuple[Clause, Clause, Clause]:
    """The source, the sequence and the condition of a delete. place: of a character of the statement."""

    def clause(words: str, default: str) -> Clause:
        if words not in found:
            return Clause(default, place(found[_SOURCE][0]))
        start, stop = found[words]
        text = statement[start:stop]
        begins = start + len(text) - len(text.lstrip())
        return Clause(statement[begins:stop].rstrip(), place(begins))

    found = clauses(statement)
    return clause(_SOURCE, ""), clause(_SEQUENCE, ""), clause(_DELETES, "false")


def of_definition(query: str, place: Place) -> tuple[Clause, Clause, Clause]:
    """The same of a definition in Python, whose rows have both as columns. query: what reads it."""
    return Clause(f"({query})", place), Clause(SEQUENCE, place), Clause(DELETES, place)


def changes_of(spark: SparkSession, flow: Any, place: Place, said: tuple[Clause, Clause, Clause]) -> Changes:
    """flow: Spark's, resolved. Raises ProgramError for a sequence without an order, and for a tracked column
    whose values can't be compared, as its run does.
    """
    jvm: Any = spark._jvm
    kind = flow.sequencingType()
    # RowOrdering's takes expressions, too: a struct is a sequence of fields, and which is called is chance
    is_orderable = jvm.org.apache.spark.sql.catalyst.expressions.OrderUtils.isOrderable
    if not is_orderable(kind):
        raise ProgramError(
            f"{place}: [AUTOCDC_MICROBATCH_VALIDATION.NON_ORDERABLE_SEQUENCE] The sequencing column has "
            f"non-orderable type {kind.sql()}. The sequencing column must be of a type that supports "
            "ordering."
        )
    arguments = flow.changeArgs()
    _check_clauses(spark, flow, said)
    source, sequence, deletes = said
    tracked = flow.trackHistoryColumnNames()
    names, history = _names(flow), bool(tracked.isDefined())
    compared = tuple(map(str, each(tracked.get()))) if history else ()
    for field in flow.schema().fields():
        if str(field.name()) in compared and not is_orderable(field.dataType()):
            raise ProgramError(
                f"{place}: [DATATYPE_MISMATCH.INVALID_ORDERING_TYPE] SCD TYPE 2 tracks column {field.name()} "
                f"of type {field.dataType().sql()}, whose values can't be compared; say TRACK HISTORY ON the "
                f"others, or ON * EXCEPT ({field.name()})"
            )
    return Changes(
        source,
        sequence,
        deletes,
        tuple(_named(names, key.name()) for key in each(arguments.keys())),
        tuple(names[: -(_OWN_OF_HISTORY if history else _OWN)]),
        history,
        compared,
    )


def _check_clauses(spark: SparkSession, flow: Any, said: tuple[Clause, Clause, Clause]) -> None:
    """Raises ProgramError for what is no condition, and for what isn't of one row: in Spark the run fails, in
    words of its merge.
    """
    _, sequence, deletes = said
    arguments = flow.changeArgs()
    for clause, words, given in (
        (sequence, "sequence_by (SEQUENCE BY)", arguments.sequencing()),
        (deletes, "apply_as_deletes (APPLY AS DELETE WHEN)", option(arguments.deleteCondition())),
    ):
        if given is None:
            continue
        try:
            frame = flow.df().select(spark._jvm.PythonUtils.toSeq([given]))
        except PySparkException:  # its place is said where it is compiled
            continue
        plan = frame.queryExecution().analyzed()
        if not plan.subqueries().isEmpty():
            raise ProgramError(
                f"{clause.place}: not supported yet: a subquery in {words}; join what it reads in the source"
            )
        while str(plan.nodeName()) == "Project":
            plan = plan.children().head()
        if str(plan.nodeName()) in ("Aggregate", "Window"):
            raise ProgramError(
                f"{clause.place}: {words} is of one change, and takes no aggregate or window function"
            )
        kind = frame.schema().fields()[0].dataType().sql()
        if clause is deletes and kind != "BOOLEAN":
            raise ProgramError(
                f"{clause.place}: {words} is a condition, of type BOOLEAN; this one has type {kind}"
            )


def _names(flow: Any) -> list[str]:
    return [str(field.name()) for field in flow.schema().fields()]


def _named(names: list[str], key: str) -> str:
    """A key as its column spells it."""
    return next(name for name in names if name.lower() == key.lower())
