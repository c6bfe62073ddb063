from __future__ import annotations

import subprocess
import sys

import pytest

_WITHOUT = """
import sys
import pyarrow as pa
from dbsp.commands.process.without_pandas import without_pandas
without_pandas()
assert pa.table({"a": [1]}).to_pylist() == [{"a": 1}]
assert "pandas" not in sys.modules
assert pa.array([1]).to_pandas().sum() == 1
"""
_WITH = """
import pandas
import pyarrow as pa
from dbsp.commands.process.without_pandas import without_pandas
without_pandas()
assert pa.array([1]).to_pandas().sum() == 1
"""


@pytest.mark.slow
def test_pandas_is_not_imported_unless_it_is_there():
    for script in (_WITHOUT, _WITH):
        subprocess.run([sys.executable, "-c", script], check=True)
