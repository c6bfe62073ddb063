"""USE, SET and what is ignored, as a program takes them."""

from __future__ import annotations

from collections.abc import Iterable

from dbsp.sql.catalyst.jvm.meaning import MEANING
from dbsp.sql.compiler.scope.scope import Scope
from dbsp.sql.text.statements.session_statements import Ignored, SessionStatement, Setting, Use
from dbsp.sql.text.statements.statements import Statement

USER = "current_user"
_ZONE = "spark.sql.session.timezone"
# settings of `spark.sql` that change how a query runs, and never what it means
_HOW = (
    "adaptive.", "autobroadcastjointhreshold", "broadcasttimeout", "cbo.", "codegen.", "execution.",
    "extensions", "files.", "hive.", "inmemorycolumnarstorage.", "join.", "optimizer.", "orc.",
    "parquet.", "shuffle.", "sources.", "statistics.", "streaming.", "ui.", "warehouse.", "catalog.",
    "defaultcatalog", "catalogimplementation",
)  # fmt: skip


def user_said(parsed: Iterable[Statement]) -> str | None:
    """Whom a program says that it is of, wherever it does: a state's text does at its end."""
    for statement in parsed:
        if isinstance(statement, Setting) and statement.key.lower() == USER and statement.value:
            return statement.value
    return None


def add_session_statement(scope: Scope, statement: SessionStatement) -> None:
    """Raises ProgramError for a setting that would change what queries mean."""
    if isinstance(statement, Ignored):
        _note(scope, statement.start, f"{statement.what} is ignored: {statement.why}")
    elif isinstance(statement, Use):
        scope.catalyst.use(statement.in_use.catalog, statement.in_use.schema)
    else:
        _set(scope, statement)


def _note(scope: Scope, start: int, text: str) -> None:
    scope.notes.append(f"{scope.source.location(start)}: {text}")


def _set(scope: Scope, setting: Setting) -> None:
    key, value = setting.key.lower(), setting.value
    fixed = {name.lower(): value for name, value in MEANING.items()} | {_ZONE: scope.catalyst.timezone}
    if key == USER:  # known by now
        if not value:
            raise scope.source.error(setting.start, f"SET {USER} = 'name'")
        return
    if key in ("strict", "show_key"):
        if value is None or value.lower() not in ("true", "false"):
            raise scope.source.error(setting.start, f"SET {key} = true, or false")
        said = value.lower() == "true"
        if key == "strict":
            scope.strict = setting.start if said else None
        else:
            scope.shows_key = said
        return
    sql = key.removeprefix("spark.sql.")
    if value is None or (key in fixed and value.lower() == fixed[key].lower()):
        return
    if key in fixed or (sql != key and not sql.startswith(_HOW)):
        known = f"a program's is {fixed[key]}" if key in fixed else "a program has Spark's default"
        message = f"SET {setting.key} = {value} would change what queries mean, and {known}; leave it out"
        raise scope.source.error(setting.start, message)
    _note(
        scope, setting.start, f"SET {setting.key} is ignored: it says how Spark runs, not what queries mean"
    )
