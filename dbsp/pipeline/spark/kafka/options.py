"""The options of a table of messages: Kafka's own, and those of the formats, as `value.mode`."""

from __future__ import annotations

from dbsp.sql.plans.program import Table

VALUE, KEY = "value", "key"


def kafka_options(table: Table) -> dict[str, str]:
    """Those that aren't the formats'."""
    return {name: value for name, value in table.options.items() if _part(name) is None}


def format_options(table: Table, part: str, usual: dict[str, str]) -> dict[str, str]:
    """Those of its value or its key, and what is usual where they don't say otherwise."""
    given = {name[len(part) + 1 :]: value for name, value in table.options.items() if _part(name) == part}
    said = set(map(str.lower, given))
    return {**{name: value for name, value in usual.items() if name.lower() not in said}, **given}


def _part(option: str) -> str | None:
    first, dot, _ = option.partition(".")
    return first.lower() if dot and first.lower() in (VALUE, KEY) else None
