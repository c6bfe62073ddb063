"""The library is all that there is: no module holds functions that it doesn't name."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from dbsp.circuits.functions import library

_FOLDER = Path(library.__file__).parent


def test_every_function_is_in_the_library() -> None:
    assert library.find("no such function") is None, "so that each family is looked into"
    known = {*library.registered()}
    for file in sorted(_FOLDER.rglob("*.py")):
        module = ".".join(file.relative_to(_FOLDER).with_suffix("").parts).removesuffix(".__init__")
        import_module(f"dbsp.circuits.functions.{module}")
        assert set(library.registered()) == known, f"functions/library.py doesn't name {module}"


def test_a_function_brings_no_family_that_comes_later() -> None:
    """A comparison registers neither regular expressions nor formats of dates, whose start costs more."""
    script = (
        "import sys; from dbsp.circuits.functions.library import find\n"
        "assert find('less_than').name == 'less_than' and find('multiply').name == 'multiply'\n"
        "print(*(name for name in sys.modules if name.startswith('dbsp.circuits.functions.')))"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    families = {name.split(".")[3] for name in ran.stdout.split()}
    assert families == {"library", "logic", "numbers"}
