"""WITH (idle_timeout = ...): a time until a source is idle, where that moves something."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.load import compile_program

pytestmark = pytest.mark.spark

TEXT = (
    "CREATE TABLE t (at TIMESTAMP{0}) {1} WITH (append_only = true, idle_timeout = {2});\n"
    "CREATE VIEW v AS SELECT * FROM t;"
)
LATE, USING = " LATENESS INTERVAL 1 SECOND", "USING json OPTIONS (path 'in')"


def test_it_is_so_many_microseconds(spark: Any) -> None:
    text = TEXT.format(LATE, USING, "INTERVAL '1' MINUTE")
    silent = text.replace(", idle_timeout = INTERVAL '1' MINUTE", "")
    idle, other = compile_program(text, session=spark), compile_program(silent, session=spark)
    assert (idle.tables["t"].idle_timeout, other.tables["t"].idle_timeout) == (60_000_000, 0)
    assert idle.fingerprint == other.fingerprint


@pytest.mark.parametrize(
    ("late", "using", "value", "error"),
    [
        (LATE, "", "INTERVAL 1 MINUTE", "idle_timeout of 't' is of a source, and this table has no USING"),
        ("", USING, "INTERVAL 1 MINUTE", "moves the waterline of a time, and no such column has one"),
        (LATE, USING, "INTERVAL 0 SECONDS", "until it is idle: more than nothing"),
        (LATE, USING, "5", "property 'idle_timeout' is an INTERVAL, not '5'"),
    ],
)
def test_elsewhere_it_is_refused(spark: Any, late: str, using: str, value: str, error: str) -> None:
    with pytest.raises(ProgramError, match=error):
        compile_program(TEXT.format(late, using, value), session=spark)
