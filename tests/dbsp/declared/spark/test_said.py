from __future__ import annotations

import pytest

from dbsp.declared.spark.said import HIDDEN, said


@pytest.mark.parametrize(
    ("message", "line"),
    [
        (
            "\n[PARSE] Syntax error. (line 1, pos 2)\n\n== SQL ==\nSELEC\n^^^",
            "[PARSE] Syntax error. (line 1, pos 2)",
        ),
        (
            "[A] Table 'm' has a schema\nthat differs.\n\nroot\n |-- x: int",
            "[A] Table 'm' has a schema that differs. root |-- x: int",
        ),
        (f"[B] `{HIDDEN}`.`m` isn't there;\n'Project [*]\n+- 'UnresolvedRelation", "[B] `m` isn't there;"),
    ],
)
def test_a_message_is_one_line(message, line):
    assert said(message) == line
