"""Golden plans: what a query becomes, operator by operator, for a person to read.

`DBSP_ACCEPT=1 pytest tests/sql/golden/test_golden.py` writes the files anew; read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.shown.explain import explain_view

GOLDEN = Path(__file__).parent


@pytest.mark.spark
@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.sql")), ids=lambda path: path.stem)
def test_plans_are_as_they_were_read(path: Path, spark: Any) -> None:
    program = compile_program(path.read_text(), path.name, session=spark)
    found = "\n".join(explain_view(program, view) for view in program.views)
    expected = path.with_suffix(".plan")
    if os.environ.get("DBSP_ACCEPT"):
        expected.write_text(found)
    assert found == expected.read_text()
