"""Functions made known to Catalyst: those in Python by their names and types, those in SQL by their text."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from dbsp.circuits.columns.variants.type import holds_variant
from dbsp.circuits.errors import Error
from dbsp.circuits.functions.python.function import PythonFunction
from dbsp.sql.catalyst.reading.errors import spark_error
from dbsp.sql.compiler.functions.handlers import NoHandler, load_handler
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.plans.declared import Declared
from dbsp.sql.plans.types import UnsupportedType, arrow_type
from dbsp.sql.spellings.spark_spelling import in_sparks_spelling
from dbsp.sql.text.statements.create_function import CreateFunction, check_body
from dbsp.sql.text.statements.create_sql_function import CreateSqlFunction
from dbsp.sql.text.tokens import Piece, Slice


def add_function(scope: Scope, statement: CreateFunction) -> None:
    problem = _registered(
        scope,
        _of_text(scope, statement) if statement.body is not None else _of_module(scope, statement),
        [scope.column_type(text) for text in statement.types],
        scope.column_type(statement.result),
    )
    if problem is not None:
        raise scope.source.error(statement.start, problem)
    if statement.body is None:
        types = tuple(text.text for text in statement.types)
        python = scope.functions.by_name[statement.name.lower()]
        scope.functions.declared.append(Declared(types, statement.result.text, python))


def _of_text(scope: Scope, statement: CreateFunction) -> PythonFunction:
    if scope.reading:
        return replace(statement.python, code=b"")
    check_body(scope.source, statement)
    return statement.python


def _of_module(scope: Scope, statement: CreateFunction) -> PythonFunction:
    """As it is now, or as it was recorded."""
    known = scope.functions.recorded.get(statement.name.lower())
    if known is not None:
        return known
    assert statement.handler is not None
    if scope.reading:
        message = f"function '{statement.name}' is not among those recorded with the program"
        raise scope.source.error(statement.start, message)
    try:
        loaded = load_handler(statement.handler, scope.source)
    except NoHandler as problem:
        raise scope.source.error(statement.handled, f"function '{statement.name}': {problem}") from None
    described = repr(
        (statement.name.lower(), statement.python.style, statement.python.aggregate, loaded.identity)
    )
    identity = hashlib.sha256(described.encode()).hexdigest()
    return replace(statement.python, identity=identity, code=loaded.code)


def declare_function(scope: Scope, function: Declared) -> None:
    """Let all views call a function that was handed over from Python."""
    types = []
    for text in (*function.types, function.result):
        type_ = scope.catalyst.column_type(text)
        if isinstance(type_, dict) and "error" in type_:
            raise Error(f"function '{function.name}': '{text}' is no type of Spark's")
        types.append(type_)
    problem = _registered(scope, function.python, types[:-1], types[-1])
    if problem is not None:
        raise Error(problem)
    scope.functions.declared.append(function)


def _registered(scope: Scope, function: PythonFunction, types: list[Any], result: Any) -> str | None:
    """None, or what is wrong with it."""
    name = function.name
    if scope.functions.has(name):
        return f"function '{name}' is defined twice"
    for type_ in (*types, result):
        try:
            if holds_variant(arrow_type(type_)):
                cure = "give it to_json(v), and parse_json what it returns"
                return f"function '{name}': functions in Python take no VARIANT, and make none; {cure}"
        except UnsupportedType as error:
            return f"function '{name}': type {error} is not supported yet"
    if not scope.catalyst.register_function(name, types, result, function.aggregate):
        return f"'{name}' is a function of Spark's; choose another name"
    scope.functions.by_name[name.lower()] = function
    return None


def add_sql_function(scope: Scope, statement: CreateSqlFunction) -> None:
    """Spark's analyser will inline it in what calls it. Raises ProgramError where Spark refuses it."""
    name, source = statement.name, scope.source
    if scope.functions.has(name):
        raise source.error(statement.start, f"function '{name}' is defined twice")
    definition = in_sparks_spelling(source, statement.definition, scope.microseconds, scope.version_time)
    head = f"CREATE TEMPORARY FUNCTION `{name.replace('`', '``')}`"
    pieces = (Piece(head, statement.start, definition.start, False), *definition.pieces)
    text = Slice(head + definition.text, statement.start, pieces, definition.stop)
    error = scope.catalyst.create_function(name, text.text)
    if error is False:
        message = f"'{name}' is a function of Spark's; choose another name"
        raise source.error(statement.start, message)
    if error is not None:
        columns, later = scope.defined.columns(), scope.names
        raise spark_error(source, text, error, columns, later, scope.functions.names())
    scope.functions.in_sql.append(name)
