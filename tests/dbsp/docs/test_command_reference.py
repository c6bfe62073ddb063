"""Every command is in the reference, with its help."""

from __future__ import annotations

from dbsp.commands.cli import main
from dbsp.docs.command_reference import command_reference


def test_every_command_is_there():
    text = command_reference()
    for name in main.commands:
        assert f"\n## dbsp {name}\n\n```text\nUsage: dbsp {name} " in text
    assert "--expect FILE" in text
