"""The commands about what was: `dbsp changes`, `dbsp tag`."""

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


COMMANDS = (changes, tag)
