"""What Spark says of a wrong query, as one line of ours with the user's place and what exists."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from dbsp.circuits.errors import ProgramError, did_you_mean
from dbsp.sql.catalyst.reading.query import Node
from dbsp.sql.text.emission_clauses import WRITTEN
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Slice, tokens_in

_SYNTAX = "PARSE_SYNTAX_ERROR"


def spark_error(
    source: Source,
    text: Slice,
    error: Node,
    relations: Mapping[str, Sequence[str]],
    later: Collection[str] = (),
    functions: Sequence[str] = (),
    own: str = "",
    asked: bool = False,
) -> ProgramError:
    """error: as dumped. relations: columns by name of the tables and views defined so far; later: the names
    of those below. functions: of the program. own: the name of the view or table that the text is of. asked:
    it is a query of what is stored.
    """
    if error["condition"].startswith("TABLE_OR_VIEW_NOT_FOUND"):
        name = error["parameters"]["relationName"].replace("`", "")
        if name.lower() == own.lower():
            message = f"'{name}' reads itself; write CREATE RECURSIVE VIEW {own} (column TYPE, ...) AS query"
            return source.error(text.place(_offset(text.text, error)), message)
        if name.lower() in {other.lower() for other in later}:
            message = f"'{name}' is defined further down; a view reads what is above it: move '{name}' up"
            return source.error(text.place(_offset(text.text, error)), message)
    if error["condition"] in ("UNRESOLVED_ROUTINE", "ROUTINE_NOT_FOUND"):
        name = error["parameters"]["routineName"].replace("`", "").removeprefix("default.")
        message = _unknown_function(name, functions)
    else:
        message = _message(source, text, error, relations, own, asked)
    return source.error(text.place(_offset(text.text, error)), message)


def _offset(text: str, error: Node) -> int:
    """Where in the text the error is; in the body of a function, which the text needn't hold, 0."""
    index = int(error.get("index", -1))
    within = error.get("text", text)
    if within != text:
        return max(text.find(within), 0) + (index if within in text else 0)
    if index < 0 and "line" in error:
        lines = text.splitlines(keepends=True)
        return sum(map(len, lines[: error["line"] - 1])) + int(error.get("column", 0))
    if index < 0 and error["condition"] == _SYNTAX:  # of some Spark names the token alone
        token = error["parameters"].get("error", "").strip("'")
        found = [match.start() for match in re.finditer(rf"(?<!\w){re.escape(token)}(?!\w)", text)]
        return found[0] if len(found) == 1 else 0
    return max(index, 0)


def _message(
    source: Source, text: Slice, error: Node, relations: Mapping[str, Sequence[str]], own: str, asked: bool
) -> str:
    condition, parameters = error["condition"], error["parameters"]
    if condition.startswith("TABLE_OR_VIEW_NOT_FOUND"):
        name = parameters["relationName"].replace("`", "")
        listed = ", ".join(relations) or "none yet"
        return (
            f"unknown table '{name}'; tables and views so far: {listed}{did_you_mean(name, list(relations))}"
        )
    if condition.startswith("UNRESOLVED_COLUMN"):
        used = [own] if own in relations else _relations_in(source, text, relations)
        name = parameters["objectName"].replace("`", "")
        last = name.rsplit(".", 1)[-1].lower()
        if asked and last in _SYSTEM:
            return f"unknown column '{name}'; {_ASKED.format(name=last)}"
        return _unknown_column(name, used, relations)
    if condition == _SYNTAX:
        hint = parameters.get("hint", "") or _of_emission(text.text, _offset(text.text, error))
        return f"syntax error at or near {parameters['error']}{hint}"
    if condition == "MISSING_AGGREGATION":
        plain = parameters["expression"].strip('"')
        cure = f"add it to GROUP BY, or say any_value({plain})"
        return f"{plain} is neither in GROUP BY nor within an aggregate; {cure}"
    if condition == "AMBIGUOUS_REFERENCE":
        name, existing = (parameters[key].replace("`", "") for key in ("name", "referenceNames"))
        return f"column '{name}' could be any of {existing.strip('[]')}; say which"
    said = _first_line(error["message"])
    if condition == "UNSUPPORTED_SQL_UDF_USAGE":
        said = said.replace(" in Generate ", " in what a table function is given ")
    return said + _cure(condition)


_EMISSION = re.compile(r"(?:^|.*\s)(EMIT|TRIGGER)\s+$", re.IGNORECASE | re.DOTALL)


def _of_emission(text: str, offset: int) -> str:
    """How a clause is written, where the error comes after its first word, as in another engine."""
    found = _EMISSION.match(text[:offset])
    return f"; {WRITTEN[found[1].upper()]}" if found else ""


# of what Spark refuses, by its condition's beginning, what a program has in its place
_CURES = {
    "UNSUPPORTED_FEATURE.TIME_TRAVEL": "dbsp query --as-of reads what a view held, and JOIN table FOR "
    "SYSTEM_TIME AS OF other.ts meets what a table held",
    "UNSUPPORTED_FEATURE.CHANGE_DATA_CAPTURE": "a view follows its tables' changes by itself, and its own "
    "are read by p.changes(view, since=n) and `dbsp changes`",
    "AVRO_NOT_LOADED": "give its jar, as by --packages org.apache.spark:spark-avro_2.13:VERSION, or put it "
    "among Spark's jars",
    "PROTOBUF_": "messages of Protobuf are read by a table WITH (format = 'protobuf'), columns of them by a "
    "function in Python: CREATE FUNCTION",
    "UNSUPPORTED_SQL_UDF_USAGE": "call it in a sub-query beneath, as FROM (SELECT f(x) AS y FROM t)",
    "UNSUPPORTED_FEATURE.LAMBDA_FUNCTION_WITH_SQL_UDF": "write out what it returns, or explode the array",
    "UNBOUND_SQL_PARAMETER": "write the value, or ${NAME} and --define NAME=value",
}


def _cure(condition: str) -> str:
    return next((f"; {cure}" for known, cure in _CURES.items() if condition.startswith(known)), "")


_DRAWN = (
    "a value that a row is given when it arrives, and keeps, is a column's DEFAULT, as in CREATE TABLE t "
    "(..., {column} DEFAULT {call})"
)
_OF_RANDOM = {
    "uuid": _DRAWN.format(column="id STRING", call="uuid()"),
    "monotonically_increasing_id": _DRAWN.format(column="n BIGINT", call="monotonically_increasing_id()"),
    "shuffle": "sort by a number that rows keep: n DOUBLE DEFAULT rand()",
    "spark_partition_id": "where a row lies is no part of what a view holds; leave it out",
    "java_method": "say it as a function in Python, by CREATE FUNCTION",
    "reflect": "say it as a function in Python, by CREATE FUNCTION",
    "try_reflect": "say it as a function in Python, by CREATE FUNCTION",
}


_OF_A_DATE = "not supported in a view; make_timestamp(d, t) is of a date d"


def forbidden(name: str, why: str, written: str = "") -> str:
    """Of a call in a view whose value isn't one of its rows.

    name, why: as Forbidden.java says them. written: the call in the query's text, by which name ever.
    """
    if name == "cast":
        return f"a cast of TIME to TIMESTAMP {why}, whose date it is of: {_OF_A_DATE}"
    if why == "depends on the session":
        cure = "of a catalog alone nobody knows the schema: say USE catalog.schema"
    elif why == "reads the clock":
        cure = "now() and current_date() are the step's, in conditions and in a DEFAULT"
    elif name.startswith("input_file"):
        cure = "where a row was read is no part of it; have its writer say it in a column"
    else:
        cure = _OF_RANDOM.get(name, _DRAWN.format(column="x DOUBLE", call="rand()"))
    called = re.match(r"\w+(?=\s*(\(|$))", written)
    return f"{called[0].lower() if called else name}() {why}: not supported in a view; {cure}"


# columns that other systems give every row
_SYSTEM = {
    "_row_id": "rows of append-only tables have one; for others declare it: "
    "_row_id BIGINT DEFAULT monotonically_increasing_id()",
    "rowtime": "rows of append-only tables have one, when they came; for others declare it: "
    "rowtime TIMESTAMP DEFAULT now()",
}
_ASKED = (
    "views are made with it, and a query reads what they hold: let one select it, as SELECT *, {name} FROM t"
)


def _unknown_function(name: str, functions: Sequence[str]) -> str:
    listed = f"; the program's own: {', '.join(functions)}" if functions else ""
    hint = did_you_mean(name, list(functions))
    cure = "; declare your own by CREATE FUNCTION, or hand it over in Python, as Pipeline(functions=[...])"
    return f"unknown function '{name}'{listed}{hint or cure}"


def _unknown_column(name: str, used: Sequence[str], relations: Mapping[str, Sequence[str]]) -> str:
    """used: the tables and views that it may be of."""
    system = _SYSTEM.get(name.rsplit(".", 1)[-1].lower())
    if system is not None:
        return f"unknown column '{name}'; {system}"
    last = name.rsplit(".", 1)[-1].lower()
    here = [relation for relation in used if last in map(str.lower, relations[relation])]
    if here and "." not in name:
        return (
            f"column '{name}' of '{here[0]}' can't be seen here; a relation of FROM sees those before it "
            "behind LATERAL, and a sub-query's columns are those that it selects"
        )
    if len(used) == 1:
        columns = list(relations[used[0]])
        hint = did_you_mean(name.rsplit(".", 1)[-1], columns)
        return f"unknown column '{name}' in '{used[0]}'; columns: {', '.join(columns)}{hint}"
    existing = sorted({column for relation in used for column in relations[relation]})
    listed = "; ".join(f"columns of {relation}: {', '.join(relations[relation])}" for relation in used)
    hint = did_you_mean(name.rsplit(".", 1)[-1], existing)
    return f"unknown column '{name}'" + (f"; {listed}" if listed else "") + hint


def _relations_in(source: Source, text: Slice, relations: Mapping[str, Sequence[str]]) -> list[str]:
    """The tables and views whose names occur in the query."""
    words = {
        token.text.strip("`").lower() for token in tokens_in(source, text) if token.kind in ("word", "quoted")
    }
    return [name for name in relations if name.lower() in words]


def _first_line(message: str) -> str:
    """Without the condition's name in front, without SQLSTATE, position and plan behind, without advice that
    the compiler's session can't take."""
    line = re.sub(r"^\[[\w.]+\]\s*", "", message.strip())
    line = re.split(r"\s*SQLSTATE:|;\s*line \d+ pos \d+|\n\s*==|\n'?[A-Z]\w+ ", line, maxsplit=1)[0]
    line = re.sub(r"\. Please, refer to \S+ for a fix", "", line)
    line = re.sub(r"If necessary set \S+ to \S+ to bypass this error\.?", "", line)
    return " ".join(line.split()).rstrip(".") or " ".join(message.split())
