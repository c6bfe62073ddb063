"""A session of Spark Connect without a server: it makes plans, and knows what the configuration says.

What a module in Python gets as `spark`, and as the session that is active. A query in SQL is a plan, too, as
it is where `spark-pipelines` runs a module. What a server would have to answer is refused by name.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.declared.spark.modules.messages import messages_of
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import tokens

_REMOTE = "SPARK_CONNECT_MODE_ENABLED"  # by which functions of columns know whose plans they make
_UDF = (
    "not supported yet: a definition that asks Spark while it is read, as @udf with its type as a text does; "
    "functions in Python can't be maintained: write it by pyspark.sql.functions"
)
_CURE = "return a DataFrame that is made of spark.read, spark.table, spark.sql, and its methods"
# what begins a statement that is no query
_COMMANDS = (
    *("ADD", "ALTER", "ANALYZE", "BEGIN", "CACHE", "CALL", "CLEAR", "COMMENT", "CREATE", "DECLARE", "DELETE"),
    *("DESC", "DESCRIBE", "DROP", "EXECUTE", "EXPLAIN", "GRANT", "INSERT", "LIST", "LOAD", "MERGE", "MSCK"),
    *("OPTIMIZE", "REFRESH", "REPAIR", "REPLACE", "RESET", "REVOKE", "SET", "SHOW", "TRUNCATE", "UNCACHE"),
    *("UPDATE", "USE", "VACUUM"),
)
# of a client, what would ask the server
_ASKING = ("_execute", "_execute_and_fetch", "_execute_and_fetch_as_iterator")


@contextmanager
def planning(configuration: Mapping[str, str]) -> Iterator[Any]:
    """The session. Asked more than it knows, it raises ProgramError. configuration: of the project."""
    from pyspark.errors import utils  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession as Connect  # noqa: PLC0415

    with ExitStack() as patched:
        patched.enter_context(_connecting())
        # else the session that is active is asked whether columns are to know their lines
        patched.enter_context(_replaced(utils, "_enable_debugging_cache", False))
        session = Connect("sc://localhost:1")
        for name in _ASKING:
            setattr(session.client, name, _asked)
        session.client._analyze = _analyze
        session.client.execute_command = _execute
        session.client.config = _Configured(configuration)
        patched.enter_context(_replaced(Connect._active_session, "session", session))
        patched.enter_context(_replaced(Connect, "_default_session", session))
        made = _replaced(SparkSession.Builder, "getOrCreate", lambda builder: _built(builder, session))
        patched.enter_context(made)
        yield session


@contextmanager
def _connecting() -> Iterator[None]:
    before = os.environ.get(_REMOTE)
    os.environ[_REMOTE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[_REMOTE]
        else:
            os.environ[_REMOTE] = before


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """PySpark's own attribute, meanwhile."""
    before = getattr(owner, name, None)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


class _Configured:
    """`client.config`, for what is set."""

    def __init__(self, configuration: Mapping[str, str]) -> None:
        self.configuration = configuration

    def __call__(self, operation: Any) -> Any:
        """Pairs of keys and values. Raises ProgramError."""
        kind = operation.WhichOneof("op_type")
        if kind == "get":
            asked: dict[str, str | None] = dict.fromkeys(operation.get.keys)
        elif kind == "get_with_default":
            asked = {pair.key: pair.value for pair in operation.get_with_default.pairs}
        else:
            _asked()
        pairs = []
        for key, default in asked.items():
            if key.startswith("spark.sql.execution.pythonUD"):
                raise ProgramError(_UDF)
            value = self.configuration.get(key, default)
            # of Spark's own settings the session has values that nobody has set; collect() asks for some
            if key.startswith("spark.") and key not in self.configuration:
                raise _refusal(f"the setting {key} is known where the pipeline's configuration says it")
            if value is None:
                raise ProgramError(
                    f"no setting '{key}' in the pipeline's configuration; "
                    f"there are: {', '.join(self.configuration) or 'none'}"
                )
            pairs.append((key, value))
        return SimpleNamespace(pairs=pairs, warnings=[])


def _execute(command: Any, *_: object, **__: object) -> tuple[None, dict[str, Any], None]:
    """Of a query in SQL nothing: it is part of the plan, as its text. Raises ProgramError for others."""
    if not command.HasField("sql_command"):
        _asked()
    query = next(messages_of(command.sql_command, "SQL")).query
    word = tokens(as_it_is(query, "query"))[0].upper
    if word in _COMMANDS:
        raise no_query(word)
    return None, {}, None


def no_query(command: str) -> ProgramError:
    """The refusal of a text in SQL, in Spark's words."""
    return ProgramError(
        f"[UNSUPPORTED_PIPELINE_SPARK_SQL_COMMAND] '{command}' is not supported in spark.sql(\"...\") API "
        "in Spark Declarative Pipeline."
    )


def _analyze(method: str, **_: object) -> None:
    raise ProgramError(_UDF) if method == "ddl_parse" else _refusal()


def _asked(*_: object, **__: object) -> None:
    raise _refusal()


def _refusal(more: str = _CURE) -> ProgramError:
    return ProgramError(
        "not supported yet: a definition that asks Spark while it is read, as df.columns, df.collect() or "
        f"spark.createDataFrame(...) do; {more}"
    )


def _built(builder: Any, session: Any) -> Any:
    """What SparkSession.builder gives. Raises ProgramError for settings."""
    given = {
        name for name in builder._options if name not in ("spark.app.name", "spark.remote", "spark.master")
    }
    if given:
        raise ProgramError(
            f"not supported yet: SparkSession.builder with {', '.join(sorted(given))}; set it in the spec's "
            "configuration"
        )
    return session
