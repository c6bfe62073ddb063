"""The `dbsp` command. Exit status: 0 ok, 1 program, data or state is wrong, 2 usage, 3 `--expect` differs,
70 a bug of dbsp, 130 Ctrl-C, 143 SIGTERM (0 where a run ends after the step that it is at).

Every import of weight is within its command, so that a replay of a compiled program starts at once.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dbsp.circuits.errors import Error
from dbsp.commands.history.commands import COMMANDS
from dbsp.commands.stopping import Stopped, end_at_once, stoppable
from dbsp.commands.unexpected import hear_once, report

Command = Callable[..., Any]
DIFFERS = 3


class Group(click.Group):
    """Whatever ends a command is one line on stderr and an exit status; no traceback is lost."""

    def invoke(self, context: click.Context) -> Any:
        hear_once()
        try:
            with stoppable() as interruption:
                return super().invoke(context)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KeyboardInterrupt as interrupt:
            stopped = interrupt if isinstance(interrupt, Stopped) else Stopped(signal.SIGINT)
            said, status = str(stopped), stopped.status
        except Exception as error:
            if interruption.by is not None:
                said, status = str(interruption.by), interruption.by.status
            elif isinstance(error, Error):
                said, status = str(error).split("\n", 1)[0], 1
            else:  # the last line of defence: anything else is a bug
                said, status = report(error)
        click.echo(said, err=True)
        return context.exit(status)


def _defines(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """What is given, and what it leaves out of a configuration file's."""
    pairs = {}
    for value in (*(context.lookup_default(option.name or "") or ()), *values):
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{value}' is not NAME=VALUE")
        pairs[name] = text
    return pairs


def _listed(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Of several options, and of several values in one."""
    return tuple(each for value in values for each in value.split(",") if each)


def _configure(context: click.Context, _: click.Parameter, given: str | None) -> None:
    """What the command line leaves out is as the file says."""
    from dbsp.commands.config import NAME, read_config  # noqa: PLC0415

    path = Path(given or NAME)
    if given is not None or path.exists():
        context.default_map = {**(context.default_map or {}), **read_config(path, context.command)}


def _check_changelog(output: str | None, changelog: str) -> None:
    if output in ("table", "live-table") and changelog != "retract":
        raise click.UsageError(f"--changelog is of json, csv and text; --output {output} shows the views")


def program_options(command: Command) -> Command:
    """PROGRAM and what every command that compiles one takes."""
    define = click.option(
        "--define",
        "-D",
        multiple=True,
        metavar="NAME=VALUE",
        callback=_defines,
        help="A value for ${NAME} in the program; the environment has the others.",
    )
    return click.argument("program")(define(command))


changelog_option = click.option(
    "--changelog",
    type=click.Choice(["retract", "upsert", "append"]),
    default="retract",
    show_default=True,
    help="Of changed rows: their weights, each key's new row or its deletion, or rows that are only added.",
)


verify_option = click.option(
    "--verify",
    type=click.Choice(["open", "first read", "never"]),
    default="first read",
    show_default=True,
    help="When stored rows are compared with their checksums.",
)


evolve_option = click.option(
    "--evolve", is_flag=True, help="Change the program of the state to this one, and say how (`dbsp plan`)."
)


def keep_options(command: Command) -> Command:
    """How much history a command keeps."""
    steps = click.option(
        "--keep-steps",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many of the last steps can be read; 10 unless given. The state remembers it.",
    )
    span = click.option(
        "--keep-for",
        metavar="TIME",
        help="Keep every moment of the last 7d, 12h or 30m, too. The state remembers it.",
    )
    return steps(span(command))


@click.group(cls=Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="dbsp", message="dbsp %(version)s")
def main() -> None:
    """Keep the views of a SQL program exact while its tables change.

    \b
    Example:
      dbsp init demo && cd demo && dbsp step program.sql deltas.sql
    """


@main.command()
@program_options
@click.argument("deltas", metavar="DELTAS")
@click.option("--expect", metavar="FILE", help="Compare with FILE; on a difference print it and exit with 3.")
@click.option("--accept", metavar="FILE", help="Write the output to FILE, to be expected from now on.")
@click.option("--runner", type=click.Choice(["inline", "spark"]), default="inline", show_default=True)
@click.option("--partitions", type=click.IntRange(min=1), metavar="N", help="Tasks that share a large step.")
@click.option("--state", metavar="DIR", help="Go on from, and keep, the state in DIR: a path, or s3://...")
@click.option(
    "--output", type=click.Choice(["json", "text", "csv", "table"]), default="json", show_default=True
)
@changelog_option
@verify_option
@evolve_option
@keep_options
def step(
    program: str,
    deltas: str,
    define: dict[str, str],
    expect: str | None,
    accept: str | None,
    runner: str,
    partitions: int | None,
    state: str | None,
    output: str,
    changelog: str,
    verify: str,
    evolve: bool,
    keep_steps: int | None,
    keep_for: str | None,
) -> None:
    """Apply the deltas of a replay file, step by step, and print what changes in each view.

    DELTAS is a file of JSON lines, one of SQL if its name ends in .sql, or - for JSON lines from stdin. The
    program's sinks, the tables it inserts into, get the changes of each step, as from any other.

    \b
    Example:
      dbsp step program.sql deltas.jsonl
      dbsp step program.sql deltas.sql --expect expected.jsonl
      dbsp step program.sql deltas.sql --output csv --changelog upsert
      echo '{"table": "votes", "row": {"user_id": 1, "story_id": 1}}' | dbsp step program.sql - --output text
    """
    if expect and accept:
        raise click.UsageError("--expect and --accept exclude each other")
    _check_changelog(output, changelog)
    from dbsp.commands.replays.replay import replay  # noqa: PLC0415
    from dbsp.commands.step import compare, print_lines, write_lines  # noqa: PLC0415

    lines = replay(
        program,
        deltas,
        define,
        runner,
        partitions,
        state,
        output,
        changelog,
        verify,
        evolve,
        keep_steps,
        keep_for,
    )
    if expect is not None:
        difference = compare(lines, expect)
        click.echo(difference, nl=False)
        sys.exit(DIFFERS if difference else 0)
    if accept is not None:
        write_lines(lines, accept)
    else:
        print_lines(lines)


@main.command()
@program_options
@click.option("--state", metavar="DIR", help="Go on from, and keep, the state in DIR: a path, or s3://...")
@click.option("--once", is_flag=True, help="Take what the sources have now, then end.")
@click.option("--every", metavar="TIME", help="Start a step at most this often, such as 1s or 500ms.")
@click.option(
    "--output",
    type=click.Choice(["live-table", "table", "csv", "json"]),
    help="How changes are shown; live-table on a terminal, else json.",
)
@changelog_option
@click.option("--partitions", type=click.IntRange(min=1), metavar="N", help="Tasks that share a large step.")
@click.option(
    "--max-undelivered",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Steps that a sink which is down may be without, before no more are made; 0 unless given.",
)
@click.option("--ui", is_flag=True, help="Serve Spark's web interface.")
@click.option("--master", metavar="URL", help="Where Spark runs; all cores of this machine unless given.")
@click.option(
    "--conf", multiple=True, metavar="NAME=VALUE", callback=_defines, help="A setting of the Spark session."
)
@click.option(
    "--packages",
    multiple=True,
    metavar="GROUP:ARTIFACT:VERSION",
    callback=_listed,
    help="Packages for Spark to fetch, such as the connector of Kafka.",
)
@click.option("--jars", multiple=True, metavar="FILE", callback=_listed, help="Jars for Spark to load.")
@click.option(
    "--config",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=_configure,
    help="Where options are that the command line leaves out; ./dbsp.toml, if it is there.",
)
@verify_option
@evolve_option
@keep_options
def run(
    program: str,
    define: dict[str, str],
    state: str | None,
    once: bool,
    every: str | None,
    output: str | None,
    changelog: str,
    partitions: int | None,
    max_undelivered: int,
    ui: bool,
    master: str | None,
    conf: dict[str, str],
    packages: tuple[str, ...],
    jars: tuple[str, ...],
    verify: str,
    evolve: bool,
    keep_steps: int | None,
    keep_for: str | None,
) -> None:
    """Run the program on Spark: rows from the sources of its tables, changes to its sinks.

    \b
    Example:
      dbsp run program.sql --once
      dbsp run program.sql --state state/ --every 1s --output json
      dbsp run program.sql --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0
    """
    if once and every:
        raise click.UsageError("--once and --every exclude each other")
    _check_changelog(output, changelog)
    from dbsp.commands.run import run_program  # noqa: PLC0415
    from dbsp.running.spark.settings import Settings  # noqa: PLC0415

    run_program(
        program,
        define=define,
        state=state,
        once=once,
        every=every,
        output=output,
        changelog=changelog,
        partitions=partitions,
        max_undelivered=max_undelivered,
        ui=ui,
        settings=Settings(master, conf, packages, jars),
        verify=verify,
        evolve=evolve,
        keep_steps=keep_steps,
        keep_for=keep_for,
    )


@main.command()
@program_options
@click.option("--state", metavar="DIR", required=True, help="The state that the program would go on with.")
def plan(program: str, define: dict[str, str], state: str) -> None:
    """Say what --evolve would do: what is kept, what is back-filled and what can't be. Nothing is changed.

    \b
    Example:
      dbsp plan program.sql --state state/
    """
    from dbsp.pipeline.plan import plan as plan_of  # noqa: PLC0415

    found = plan_of(program, state, define=define)
    for line in found.lines():
        click.echo(line)
    if found.refused:
        raise Error(f"{state}: the program can't be changed into {program}; see above")


@main.command()
@program_options
@click.option("--strict", is_flag=True, help="Unbounded state is an error.")
def check(program: str, define: dict[str, str], strict: bool) -> None:
    """Compile the program; say of each operator that keeps state what bounds it, and what each sink promises.

    \b
    Example:
      dbsp check program.sql
    """
    from dbsp.commands.check import bounds, notes  # noqa: PLC0415
    from dbsp.sql.compiler.load import load_program  # noqa: PLC0415

    loaded = load_program(Path(program), define=define)
    unbounded = 0
    for bound in bounds(loaded):
        click.echo(str(bound))
        unbounded += not bound.is_bounded
    for note in notes(loaded):
        click.echo(note)
    if strict and unbounded:
        raise Error(f"{program}: the state of {unbounded} operators is unbounded; see above")


@main.command()
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
    from dbsp.commands.explain import explain_program  # noqa: PLC0415
    from dbsp.sql.compiler.load import load_program  # noqa: PLC0415

    click.echo(explain_program(load_program(Path(program), define=define), view, form), nl=False)


@main.command()
@click.argument("state")
@click.argument("select", metavar='"SELECT ..."')
@click.option("--as-of", metavar="STEP|TIME|TAG", help="The views as they were after that step, or then.")
@click.option("--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@verify_option
def query(state: str, select: str, as_of: str | None, output: str, verify: str) -> None:
    """Ask the views in a state directory anything, in Spark SQL. A run that is using it isn't disturbed.

    FOR SYSTEM_TIME AS OF after a view's name is of that view what --as-of is of all.

    \b
    Example:
      dbsp query state/ "SELECT * FROM turnover ORDER BY total DESC LIMIT 10"
      dbsp query state/ "SELECT count(*) FROM turnover" --as-of '2024-01-31 12:00:00'
      dbsp query state/ "SELECT * FROM turnover EXCEPT SELECT * FROM turnover FOR SYSTEM_TIME AS OF 3"
    """
    from dbsp.commands.query import query_state  # noqa: PLC0415

    for line in query_state(state, select, as_of, output, verify):
        click.echo(line)


@main.command()
@click.argument("state", metavar="DIR")
@click.option("--restore-to", type=int, metavar="N", help="Go back to step N, if it is whole, for good.")
def fsck(state: str, restore_to: int | None) -> None:
    """Read all of a state directory; say what is damaged, and which steps are whole. Exit with 1 for damage.

    \b
    Example:
      dbsp fsck state/
      dbsp fsck state/ --restore-to 41
    """
    from dbsp.commands.fsck import examine, go_back, listed  # noqa: PLC0415
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
        f"{root}: {listed(whole)} {'is' if len(whole) == 1 else 'are'} whole" if whole else f"{root}: no step"
    )
    if damaged:
        advice = (
            f"; `dbsp fsck {root} --restore-to {whole[-1]}` goes back to the last whole one" if whole else ""
        )
        raise Error(f"{root}: {len(damaged)} damaged{advice}")


@main.command()
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


for command in COMMANDS:
    main.add_command(command)


def command_line() -> None:
    """The process of a command."""
    try:
        main()
    finally:
        end_at_once()


if __name__ == "__main__":
    command_line()
