"""The commands that make no step: of a program, and of a state directory."""

from __future__ import annotations

from pathlib import Path

import click

from dbsp.circuits.errors import Error
from dbsp.commands.process.options import backfill_option, program_options, verify_option


@click.command()
@program_options
@click.option("--state", metavar="DIR", required=True, help="The state that the program would go on with.")
@backfill_option
def plan(program: str, define: dict[str, str], state: str, backfill: str | None) -> None:
    """Say what --evolve would do: what is kept, what is back-filled and what can't be. Nothing is changed.

    \b
    Example:
      dbsp plan program.sql --state state/
    """
    from dbsp.pipeline.plan import plan as plan_of  # noqa: PLC0415

    found = plan_of(program, state, define=define, backfill=backfill)
    for line in found.lines():
        click.echo(line)
    if found.refused:
        raise Error(f"{state}: the program can't be changed into {program}; see above")


@click.command()
@program_options
@click.option("--strict", is_flag=True, help="Unbounded state is an error.")
def check(program: str, define: dict[str, str], strict: bool) -> None:
    """Compile the program; say of each operator that keeps state what bounds it, and what each sink promises.

    \b
    Example:
      dbsp check program.sql
    """
    from dbsp.sql.compiler.load import load_program  # noqa: PLC0415
    from dbsp.sql.plans.shown.bounds import bounds  # noqa: PLC0415
    from dbsp.views.explained.checks import notes  # noqa: PLC0415

    loaded = load_program(Path(program), define=define)
    unbounded = 0
    for bound in bounds(loaded):
        click.echo(str(bound))
        unbounded += not bound.is_bounded
    for note in notes(loaded):
        click.echo(note)
    if strict and unbounded:
        raise Error(f"{program}: the state of {unbounded} operators is unbounded; see above")


@click.command()
@program_options
@click.argument("view", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "mermaid", "dot", "svg"]),
    default="text",
    show_default=True,
)
def explain(program: str, view: str | None, define: dict[str, str], form: str) -> None:
    """Show the circuit of the program, or of one view: operators, levels, what is kept.

    \b
    Example:
      dbsp explain program.sql
      dbsp explain program.sql turnover --format svg > turnover.svg
    """
    from dbsp.sql.compiler.load import load_program  # noqa: PLC0415
    from dbsp.views.explained.program import explain_program  # noqa: PLC0415

    click.echo(explain_program(load_program(Path(program), define=define), view, form), nl=False)


@click.command()
@click.argument("asked", nargs=-1, metavar='[STATE] "SELECT ..."')
@click.option("--as-of", metavar="STEP|TIME|TAG", help="The views as they were after that step, or then.")
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--show-key", is_flag=True, help="Only of views that show the key that they don't select, too.")
@verify_option
def query(asked: tuple[str, ...], as_of: str | None, output: str, show_key: bool, verify: str) -> None:
    """Ask the views in a state directory anything, in Spark SQL. A run that is using it isn't disturbed.

    FOR SYSTEM_TIME AS OF after a view's name is of that view what --as-of is of all. A file may stand for a
    table, beside views or without any STATE: its columns are those that Spark finds.

    \b
    Example:
      dbsp query "SELECT country, sum(amount) FROM 'in/*.csv' o GROUP BY country"
      dbsp query state/ "SELECT * FROM turnover ORDER BY total DESC LIMIT 10"
      dbsp query state/ "SELECT count(*) FROM turnover" --as-of '2024-01-31 12:00:00'
      dbsp query state/ "SELECT * FROM turnover EXCEPT SELECT * FROM turnover FOR SYSTEM_TIME AS OF 3"
    """
    from dbsp.commands.query import query_files, query_state  # noqa: PLC0415

    if not 1 <= len(asked) <= 2 or len(asked[-1].split()) < 2:
        raise click.UsageError('Give [STATE] "SELECT ...".')
    *state, select = asked
    if as_of is not None and not state:
        raise click.UsageError("--as-of is of views: give their STATE, too.")
    if show_key and not state:
        raise click.UsageError("--show-key is of views: give their STATE, too.")
    if state:
        lines = query_state(state[0], select, as_of, output, verify, show_key)
    else:
        lines = query_files(select, output)
    for line in lines:
        click.echo(line)


@click.command()
@click.argument("state", metavar="DIR")
@click.argument("view")
@click.argument("key", nargs=-1, required=True, metavar="KEY...")
@click.option("--as-of", metavar="STEP|TIME|TAG", help="The view as it was after that step, or then.")
@click.option("--output", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="N",
    help="Rows of each relation that are shown; 5, or 1000 in JSON, unless given.",
)
@click.option(
    "--offset", type=click.IntRange(min=0), metavar="N", default=0, help="Rows of each left out before these."
)
def why(
    state: str,
    view: str,
    key: tuple[str, ...],
    as_of: str | None,
    output: str,
    limit: int | None,
    offset: int,
) -> None:
    """Say which rows of the tables a view's row follows from, operator by operator; or where it is lost.

    KEY is the values of the view's key in their order, or COLUMN=VALUE of any columns, as for a value with =
    in it. A run that is using the state isn't disturbed.

    \b
    Example:
      dbsp why state/ turnover Ada
      dbsp why state/ sold shop=7 day=2024-01-31 --as-of 41
      dbsp why state/ sold shop=7 day=2024-01-31 --limit 100 --offset 200
    """
    from dbsp.commands.why import why_in_state  # noqa: PLC0415

    for line in why_in_state(state, view, key, as_of, output, limit, offset):
        click.echo(line)


@click.command()
@click.argument("state", metavar="DIR")
@click.option("--restore-to", type=int, metavar="N", help="Go back to step N, if it is whole, for good.")
def fsck(state: str, restore_to: int | None) -> None:
    """Read all of a state directory; say what is damaged, and which steps are whole. Exit with 1 for damage.

    \b
    Example:
      dbsp fsck state/
      dbsp fsck state/ --restore-to 41
    """
    from dbsp.commands.fsck import examine, go_back  # noqa: PLC0415
    from dbsp.commands.shown.steps import named_steps  # noqa: PLC0415
    from dbsp.state.records.places import place_of  # noqa: PLC0415

    root = place_of(state)
    if restore_to is not None:
        for line in go_back(root, restore_to):
            click.echo(line)
        click.echo(f"{root}: step {restore_to} is the last one now")
        return
    damaged, whole = examine(root)
    for line in damaged:
        click.echo(line)
    click.echo(
        f"{root}: {named_steps(whole)} {'is' if len(whole) == 1 else 'are'} whole"
        if whole
        else f"{root}: no step"
    )
    if damaged:
        advice = (
            f"; `dbsp fsck {root} --restore-to {whole[-1]}` goes back to the last whole one" if whole else ""
        )
        raise Error(f"{root}: {len(damaged)} damaged{advice}")


@click.command()
@click.argument("directory", metavar="DIR")
def init(directory: str) -> None:
    """Write a small working project into DIR, to start from.

    \b
    Example:
      dbsp init demo
    """
    from dbsp.commands.starter import write_project  # noqa: PLC0415
    from dbsp.state.records.places import local_path  # noqa: PLC0415

    for line in write_project(Path(local_path(directory))):
        click.echo(line)


COMMANDS = (plan, check, explain, query, why, fsck, init)
