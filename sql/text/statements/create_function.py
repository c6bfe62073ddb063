"""CREATE FUNCTION: functions and aggregates written in Python, as Databricks spells them.

    CREATE [AGGREGATE] FUNCTION f(x BIGINT, y STRING) RETURNS DOUBLE LANGUAGE PYTHON
    [PARAMETER STYLE ARROW | PANDAS] [HANDLER 'name'] [DETERMINISTIC] [COMMENT '...']
    [AS $$ Python $$]

Without HANDLER the text is a function's body, whose parameters are the arguments; with it, a module that
defines the function. Without a text HANDLER names a module's function, 'package.module.function'
(`dbsp.sql.compiler.functions.handlers`). `dbsp.circuits.functions.python.function` says what it is given. A
function declared from Python (`dbsp.udf`) is the same without a place in the program.
"""

from __future__ import annotations

import hashlib
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from dbsp.circuits.functions.python.function import PythonFunction, Text
from dbsp.sql.text.source import Source
from dbsp.sql.text.tokens import Cursor, Slice, Token, unquote

_FORM = "CREATE [AGGREGATE] FUNCTION f(x TYPE, ...) RETURNS TYPE LANGUAGE PYTHON AS $$ ... $$"
_ENDS = {"LANGUAGE", "PARAMETER", "HANDLER", "DETERMINISTIC", "NOT", "COMMENT", "AS", "RETURN"}


@dataclass(frozen=True)
class CreateFunction:
    """types, result: as DDL. python: without code if that is the function of a module that `handler` names.

    start, handled: where the name and the HANDLER stand. body: the text, quotes included.
    """

    name: str
    types: tuple[Slice, ...]
    result: Slice
    python: PythonFunction
    start: int
    handler: str | None = None
    handled: int = 0
    body: Token | None = None


@dataclass
class _Clauses:
    style: str = "values"
    handler: str | None = None
    handled: int = 0
    is_python: bool = False


def create_function(cursor: Cursor, aggregate: bool) -> CreateFunction:
    """Reads what follows CREATE [AGGREGATE] FUNCTION."""
    name = cursor.name("a function's name")
    if cursor.sees("AS"):
        cursor.fail(f"function '{name.text}' of a class in Java is not supported: {_FORM}")
    names, types = _parameters(cursor, name.text)
    if not cursor.accept("RETURNS"):
        cursor.fail(f"function '{name.text}' has no RETURNS TYPE: {_FORM}")
    result = cursor.type("RETURNS", _ENDS)
    clauses = _Clauses()
    while not cursor.accept("AS"):
        if cursor.next.kind == "end" and clauses.handler is not None and clauses.is_python:
            return _of_module(name, tuple(types), result, clauses, aggregate)
        _clause(cursor, name.text, clauses)
    body, style = cursor.take(), clauses.style
    if not clauses.is_python or body.kind not in ("dollars", "string"):
        cursor.fail(f"function '{name.text}' is not written in Python: {_FORM}", body)
    if cursor.next.kind != "end":
        cursor.fail(f"unknown clause {cursor.next} after the body; {_FORM}")
    if clauses.handler is None and style != "values" and not aggregate:
        message = f"PARAMETER STYLE {style.upper()} needs HANDLER 'name', a function that the text defines"
        raise cursor.source.error(body.start, message)
    text = _text(cursor.source, body, tuple(names), clauses.handler)
    described = repr((name.text.lower(), style, aggregate, text.text, text.parameters, text.handler))
    identity = hashlib.sha256(described.encode()).hexdigest()
    python = PythonFunction(name.text, style, aggregate, identity, text)
    return CreateFunction(name.text, tuple(types), result, python, name.start, body=body)


def _of_module(
    name: Token, types: tuple[Slice, ...], result: Slice, clauses: _Clauses, aggregate: bool
) -> CreateFunction:
    python = PythonFunction(name.text, clauses.style, aggregate, "", b"")
    return CreateFunction(name.text, types, result, python, name.start, clauses.handler, clauses.handled)


def _clause(cursor: Cursor, function: str, clauses: _Clauses) -> None:
    """One of those between the result's type and AS."""
    if cursor.accept("LANGUAGE"):
        language = cursor.name("PYTHON")
        if language.upper != "PYTHON":
            cursor.fail(f"LANGUAGE {language.text} is not supported; a function's is PYTHON", language)
        clauses.is_python = True
    elif cursor.accept("PARAMETER", "STYLE"):
        style = cursor.name("ARROW or PANDAS")
        clauses.style = style.text.lower()
        if clauses.style not in ("arrow", "pandas"):
            cursor.fail(f"unknown PARAMETER STYLE {style.upper}; there are ARROW and PANDAS", style)
    elif cursor.accept("HANDLER"):
        cursor.accept("=")
        clauses.handled = cursor.next.start
        clauses.handler = cursor.value()
    elif cursor.sees("NOT", "DETERMINISTIC"):
        cursor.fail(f"function '{function}' must be DETERMINISTIC: what it returned is retracted by it")
    elif cursor.accept("COMMENT"):
        cursor.value()
    elif not cursor.accept("DETERMINISTIC"):
        cursor.fail(f"unknown clause {cursor.next}; {_FORM}")


def _parameters(cursor: Cursor, function: str) -> tuple[list[str], list[Slice]]:
    cursor.expect("(")
    names: list[str] = []
    types: list[Slice] = []
    if cursor.sees(")"):
        cursor.fail(f"function '{function}' has no parameters, so it is a constant; write the constant")
    while True:
        at = cursor.next
        name = cursor.name("a parameter's name").text
        if not name.isidentifier() or name in names:
            cursor.fail(f"'{name}' can't be a parameter's name: it must be new, and a name in Python", at)
        names.append(name)
        types.append(cursor.type(f"parameter '{name}'", {"COMMENT"}))
        if cursor.accept("COMMENT"):
            cursor.value()
        if not cursor.accept(","):
            break
    cursor.expect(")")
    return names, types


def _text(source: Source, body: Token, names: Sequence[str], handler: str | None) -> Text:
    inside = body.text[2:-2] if body.kind == "dollars" else unquote(body.text)
    if inside.split("\n", 1)[0].strip():  # it begins on the line of the $$
        inside = inside.lstrip(" \t")
    line, _ = source.position(body.start)
    return Text(textwrap.dedent(inside), tuple(names), handler, source.name, line)


def check_body(source: Source, statement: CreateFunction) -> None:
    """Its syntax, and that the handler is there. Runs the text: a top level that fails does so here."""
    body, text, name = statement.body, statement.python.code, statement.name
    assert body is not None and isinstance(text, Text), f"function '{name}' has no text"
    at = body.start
    try:
        text.load()
        return
    except SyntaxError as error:
        at, problem = _line(body, (error.lineno or text.line) - text.line), error.msg
    except KeyError as error:
        problem = f"its text defines no '{text.handler}', which is its HANDLER"
        if error.args != (text.handler,):
            problem = f"its text fails: {error!r}"
    except Exception as error:  # an import, for one
        problem = f"its text fails: {error!r}"
    raise source.error(at, f"function '{name}': {problem}")


def _line(body: Token, number: int) -> int:
    """Where in the source that line of the text begins, white space left out."""
    lines = body.text.split("\n")
    number = min(max(number, 0), len(lines) - 1)
    indented = len(lines[number]) - len(lines[number].lstrip())
    return body.start + sum(len(line) + 1 for line in lines[:number]) + indented
