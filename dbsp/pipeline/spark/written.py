"""Options under which a file of text holds what the view holds.

Spark's writers cut a TIMESTAMP to milliseconds, so that two keys could become one, and CSV's trims the
strings. What OPTIONS of the table say is left as it is.
"""

from __future__ import annotations

from dbsp.sql.plans.program import Table

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
    said = set(map(str.lower, given))
    whole = whole_options((table.format or "").lower())
    return {**{name: value for name, value in whole.items() if name.lower() not in said}, **given}
