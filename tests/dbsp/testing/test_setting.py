"""What plugin and functions share costs nothing to import."""

from __future__ import annotations

import subprocess
import sys

from dbsp.testing.setting import Setting


def test_without_the_plugin_paths_are_of_the_working_directory():
    assert not Setting().accept
    assert str(Setting().folder / "a.sql") == "a.sql"


def test_the_plugin_imports_nothing_of_weight():
    listed = "import sys, dbsp.testing.plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", listed], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "numpy", "pyspark"} & set(done.stdout.split())
