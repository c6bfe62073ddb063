"""The reference of SQL: what the compiler's tables say of statements, properties, formats, spellings."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from types import ModuleType

from dbsp.commands.replays import statements as replay_statements
from dbsp.docs.sections import untitled, within, without_links
from dbsp.sql.compiler.targets.formats import FILE_OPTIONS, FORMATS, OPTIONS
from dbsp.sql.plans import types
from dbsp.sql.plans.own_forms import OWN_FORMS
from dbsp.sql.spellings import spark_spelling
from dbsp.sql.text import emission_clauses
from dbsp.sql.text.statements.create_table import PROPERTIES
from dbsp.sql.text.statements.statements import STATEMENTS


def sql_reference(limits: str, files: str) -> str:
    """limits: the guide whose lists of what a view may use, and of what is refused, are part of it; files: of
    statements of files that were written for Spark.
    """
    used = untitled(limits).split("<!-- generated: registry -->")[0].strip()
    parts = [
        "# SQL\n\nA query is Spark SQL, read by Spark's own analyser. [Functions](functions.md) have a page, "
        "and so has the [syntax](syntax.md) that isn't maintained.",
        "## Statements\n\n" + "\n".join(f"- `{name}`" for name in STATEMENTS),
        "## Limits\n\n" + within(without_links(used)),
        "## Types\n\n" + _table(types),
        "## Spellings beside Spark's\n\n" + _table(spark_spelling),
        "## When changes leave\n\n" + _table(emission_clauses),
        "## CREATE TABLE ... WITH\n\n"
        + _listed(("property", "values"), [(f"`{name}`", _values(name)) for name in PROPERTIES]),
        "## CREATE TABLE ... USING\n\n"
        + _listed(
            ("format", "OPTIONS", "a step is written"), [_format(name) for name in dict.fromkeys(FORMATS)]
        )
        + "\n\nFiles also take "
        + ", ".join(f"`{name}`" for name in FILE_OPTIONS)
        + ", and what Spark has for their format. Options with a dot are settings of the system behind it.",
        "## Files written for Spark\n\n" + within(without_links(untitled(files))),
        "## Statements of a replay file\n\n" + _table(replay_statements),
    ]
    return "\n\n".join(parts) + "\n"


def _table(module: ModuleType) -> str:
    """The block of a module's docstring that lists forms."""
    lines = (inspect.getdoc(module) or "").splitlines()
    block = [line for line in lines if line.startswith("    ")]
    return "```text\n" + inspect.cleandoc("\n".join(["", *block])) + "\n```"


def _values(name: str) -> str:
    return ", ".join(f"`{value}`" for value in PROPERTIES[name]) or "a number"


def _format(name: str) -> tuple[str, str, str]:
    form = OWN_FORMS.get(name)
    options = ", ".join(f"`{option}`" for option in OPTIONS.get(name, ()))
    return f"`{name}`", options, form.promise if form is not None else ""


def _listed(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
