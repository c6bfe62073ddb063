"""The commands about what was: `dbsp tag`."""

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


COMMANDS = (tag,)
