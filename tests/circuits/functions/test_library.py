"""The library is all that there is: no module holds functions that it doesn't import."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from dbsp.circuits.functions import library

_FOLDER = Path(library.__file__).parent


def test_every_function_is_in_the_library() -> None:
    known = {name for name in library.registered() if library.find(name) is not None}
    for file in sorted(_FOLDER.rglob("*.py")):
        module = ".".join(file.relative_to(_FOLDER).with_suffix("").parts).removesuffix(".__init__")
        import_module(f"dbsp.circuits.functions.{module}")
        assert set(library.registered()) == known, f"functions/library.py doesn't import {module}"
