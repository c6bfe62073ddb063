"""The commands about what was: `dbsp backup`, `changes`, `replay`, `restore`, `status`, `tag`."""

from __future__ import annotations

import click


@click.command()
@click.argument("state", metavar="DIR")
@click.argument("name", required=False)
@click.argument("step", metavar="[STEP|TIME]", required=False)
@click.option("--for", "lasting", metavar="TIME", help="Only for so long, such as 7d, 12h or 30m.")
@click.option("--delete", is_flag=True, help="Take the tag away; its step goes when it is its turn.")
def tag(state: str, name: str | None, step: str | None, lasting: str | None, delete: bool) -> None:
    """Pin a step by a name, the last one unless another is given; without a name, list the tags.

    A tagged step can be read, backed up and gone back to, whatever a run keeps. A run that is using the state
    isn't disturbed.

    \b
    Example:
      dbsp tag state/ before-the-sale
      dbsp tag state/ audit '2024-01-31 12:00:00'
      dbsp tag state/
      dbsp tag state/ audit --delete
    """
    from dbsp.commands.history.tags import listed_tags, tagged  # noqa: PLC0415
    from dbsp.history.tagging import untag  # noqa: PLC0415

    if delete and (name is None or step is not None or lasting is not None):
        raise click.UsageError("--delete takes the name of a tag, and nothing else")
    if name is None:
        if lasting is not None:
            raise click.UsageError("--for is of a tag that is made: give its name")
        for line in listed_tags(state):
            click.echo(line)
    elif delete:
        untag(state, name)
        click.echo(f"'{name}' is no tag any more")
    else:
        click.echo(tagged(state, name, step, lasting))


@click.command()
@click.argument("state", metavar="DIR")
@click.argument("view")
@click.option(
    "--since", required=True, metavar="STEP|TIME|TAG", help="After that step; 0: from the beginning."
)
@click.option("--until", metavar="STEP|TIME|TAG", help="Up to that step; the last one unless given.")
@click.option("--each", is_flag=True, help="Step by step, and not their sum.")
@click.option("--output", type=click.Choice(["json", "csv", "table"]), default="json", show_default=True)
def changes(state: str, view: str, since: str, until: str | None, each: bool, output: str) -> None:
    """Show what changed in a view between two steps: what a subscriber that was away has missed.

    It costs what has changed meanwhile, and not the view. A run that is using the state isn't disturbed.

    \b
    Example:
      dbsp changes state/ turnover --since 41
      dbsp changes state/ turnover --since '2024-01-31' --until '2024-02-01' --each --output csv
    """
    from dbsp.commands.history.changes import changes_in_state  # noqa: PLC0415

    for line in changes_in_state(state, view, since, until, each, output):
        click.echo(line)


@click.command()
@click.argument("state", metavar="DIR")
@click.argument("to", metavar="TO")
def backup(state: str, to: str) -> None:
    """Copy a state, as of its last step, to the directory TO, or bring the backup there up to date.

    A run that is using the state isn't disturbed. What is there already isn't copied again, and everything is
    compared with its checksums. A backup that is interrupted leaves the one before.

    \b
    Example:
      dbsp backup state/ /mnt/backup
    """
    from dbsp.history.backup import back_up  # noqa: PLC0415

    made = back_up(state, to)
    click.echo(f"{to}: step {made.step}; {made.segments} segments copied, {made.size:,} bytes")


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("state", metavar="DIR")
def restore(source: str, state: str) -> None:
    """Make the new state directory DIR of the backup in FROM, after comparing it with its checksums.

    \b
    Example:
      dbsp restore /mnt/backup state/
    """
    from dbsp.history.backup import restore as restore_to  # noqa: PLC0415

    made = restore_to(source, state)
    click.echo(f"{state}: step {made.step}; {made.segments} segments copied, {made.size:,} bytes")


@click.command()
@click.argument("directory", metavar="DIR")
@click.option("--from", "as_of", required=True, metavar="STEP|TIME|TAG", help="After that step.")
@click.argument("deltas", metavar="DELTAS")
@click.option("--state", "other", required=True, metavar="OTHER", help="The new state that it is made in.")
@click.option("--program", metavar="PROGRAM", help="The program's file, where it has functions of its own.")
@click.option(
    "--output", type=click.Choice(["json", "text", "csv", "table"]), default="json", show_default=True
)
def replay(directory: str, as_of: str, deltas: str, other: str, program: str | None, output: str) -> None:
    """Ask what if: apply other deltas after a step of a state, in a state of its own, and print what changes.

    DELTAS is as of `dbsp step`. The state in DIR stays as it is, and sinks get nothing.

    \b
    Example:
      dbsp replay state/ --from 41 other.jsonl --state what-if/
    """
    from dbsp.commands.history.replay import replay as replay_in  # noqa: PLC0415

    for line in replay_in(directory, as_of, deltas, other, program, output, "retract"):
        click.echo(line)


@click.command()
@click.argument("state", metavar="DIR")
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
def status(state: str, output: str) -> None:
    """Say how a state stands: its last step, how its tables have been read, and what its sinks have.

    A run that is using the state isn't disturbed.

    \b
    Example:
      dbsp status state/
      dbsp status state/ --output json
    """
    from dbsp.commands.history.status import shown_status  # noqa: PLC0415

    for line in shown_status(state, output):
        click.echo(line)


COMMANDS = (backup, changes, replay, restore, status, tag)
