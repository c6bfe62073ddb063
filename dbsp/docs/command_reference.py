"""The reference of the command line: what each command says of itself with `--help`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from dbsp.commands.cli import main


def command_reference() -> str:
    """Every command, those within others too."""
    parts = [
        "# Command line",
        *(_shown(context) for context in _contexts(click.Context(main, info_name="dbsp"))),
    ]
    return "\n\n".join(parts) + "\n"


def _contexts(context: click.Context) -> Iterator[click.Context]:
    yield context
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            command = context.command.get_command(context, name)
            assert command is not None, name
            yield from _contexts(click.Context(command, context, info_name=name, max_content_width=100))


def _shown(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{context.get_help()}\n```"
