"""Golden fingerprints: programs whose state directories every later release must go on with.

A line that changes is a promise broken, unless rules made another plan of the program, so that its circuit is
another one. `DBSP_ACCEPT=1 pytest tests/sql/golden/test_fingerprints.py` writes the file anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbsp.sql.compiler.load import load_program

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).with_name("fingerprints.txt")
PROGRAMS = [path for path in sorted(ROOT.glob("examples/*/program.sql")) if path.parent.name != "auction"]
PROGRAMS += sorted(GOLDEN.parent.glob("*.sql"))


@pytest.mark.spark
def test_fingerprints_are_what_they_were(spark: Any) -> None:
    programs = [(path, load_program(path, session=spark)) for path in PROGRAMS]
    found = "".join(f"{program.fingerprint} {path.relative_to(ROOT)}\n" for path, program in programs)
    if os.environ.get("DBSP_ACCEPT"):
        GOLDEN.write_text(found)
    assert found == GOLDEN.read_text()
