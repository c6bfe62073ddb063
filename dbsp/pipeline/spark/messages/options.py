"""Options of a table, for Spark's readers and writers.

A text is to hold what the view holds. Spark's writers cut a TIMESTAMP to milliseconds, so that two keys could
become one, and CSV's trims the strings. What OPTIONS of the table say is left as it is. Of messages `value.…`
and `key.…` are options of the formats of these, and all others are Kafka's.
"""

from __future__ import annotations

from collections.abc import Mapping

from dbsp.sql.plans.program import Table

VALUE, KEY = "value", "key"
_TIMES = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS[XXX]",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}
_WHOLE: dict[str, dict[str, str]] = {
    "csv": {**_TIMES, "ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"},
    "json": _TIMES,
    "xml": _TIMES,
}


def whole_options(form: str) -> dict[str, str]:
    """What a text of that format, in lower case, needs to hold all of a value."""
    return _WHOLE.get(form, {})


def written_options(table: Table) -> dict[str, str]:
    """The options of the table for the writer of its files, without their path."""
    given = {name: value for name, value in table.options.items() if name.lower() != "path"}
    return with_usual(whole_options((table.format or "").lower()), given)


def kafka_options(table: Table) -> dict[str, str]:
    """Of messages those that aren't the formats'."""
    return {name: value for name, value in table.options.items() if _part(name) is None}


def format_options(table: Table, part: str, usual: Mapping[str, str]) -> dict[str, str]:
    """Those of a message's value or key, and what is usual where they don't say otherwise."""
    given = {name[len(part) + 1 :]: value for name, value in table.options.items() if _part(name) == part}
    return with_usual(usual, given)


def with_usual(usual: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """What is given, and what is usual of the options that it doesn't name, in whatever case."""
    said = set(map(str.lower, given))
    return {**{name: value for name, value in usual.items() if name.lower() not in said}, **given}


def _part(option: str) -> str | None:
    first, dot, _ = option.partition(".")
    return first.lower() if dot and first.lower() in (VALUE, KEY) else None
