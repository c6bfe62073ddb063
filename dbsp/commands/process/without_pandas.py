"""Arrow without pandas, in a process that needs none.

At its first array Arrow looks whether pandas is there, and imports it: a quarter of the CPU of a small
refresh. What asks for pandas later, as `to_pandas` does, has it imported then.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from typing import Any

import pyarrow as pa


class _NoPandas(MetaPathFinder):
    """Finds none."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas isn't needed", name=fullname)


def without_pandas() -> None:
    """Have Arrow find none, unless somebody has imported it already; `import pandas` works as before."""
    if "pandas" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
