"""FOR SYSTEM_TIME AS OF: which view, as of when, under which name."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.history.travel import Travel, travels


@pytest.mark.parametrize(
    ("select", "rewritten", "asked"),
    [
        ("SELECT 1 FROM v", "SELECT 1 FROM v", []),
        (
            "SELECT v.x FROM v FOR SYSTEM_TIME AS OF 3 WHERE 1",
            "SELECT v.x FROM `v as of 3` AS v WHERE 1",
            [("v", "3")],
        ),
        (
            "select * from V for system_time as of 'now' a join `V` version as of 2 as b on a.x = b.x",
            "select * from `v as of now` a join `v as of 2` as b on a.x = b.x",
            [("v", "now"), ("v", "2")],
        ),
        (
            "SELECT * FROM a EXCEPT SELECT * FROM a TIMESTAMP AS OF TIMESTAMP '2024-01-01'",
            "SELECT * FROM a EXCEPT SELECT * FROM `a as of 2024-01-01` AS a",
            [("a", "2024-01-01")],
        ),
        ("SELECT 'v FOR SYSTEM_TIME AS OF 3'", "SELECT 'v FOR SYSTEM_TIME AS OF 3'", []),
        ("SELECT timestamp AS OF FROM v", "SELECT timestamp AS OF FROM v", []),
    ],
)
def test_what_is_asked(select: str, rewritten: str, asked: list[tuple[str, str]]) -> None:
    assert travels(select) == (rewritten, [Travel(*each) for each in asked])


@pytest.mark.parametrize("literal", ["ts", "now()", "TIMESTAMP 3", ""])
def test_what_is_no_literal(literal: str) -> None:
    with pytest.raises(ProgramError, match="after AS OF: give the number of a step, or in quotes"):
        travels(f"SELECT * FROM v FOR SYSTEM_TIME AS OF {literal}")
