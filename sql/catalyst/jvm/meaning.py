"""Settings of Spark that change what queries mean, and are the same for every program."""

from __future__ import annotations

from collections.abc import Callable

MEANING = {"spark.sql.ansi.enabled": "true", "spark.sql.caseSensitive": "false"}


def other_meaning(setting: Callable[[str], object]) -> tuple[str, str] | None:
    """The first setting under which they mean something else: what is said, and what it is here.

    setting: what is said of a name, or None.
    """
    for name, value in MEANING.items():
        said = setting(name)
        if said is not None and str(said).lower() != value:
            return f"{name} = {said}", value
    return None
