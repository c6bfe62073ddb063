"""The `dbsp` command. Exit status: 0 ok, 1 program, data or state is wrong, 2 usage, 3 `--expect` differs,
70 a bug of dbsp, 130 Ctrl-C, 143 SIGTERM (0 where a run ends after the step that it is at).

Every import of weight is within its command, so that a replay of a compiled program starts at once.
"""

from __future__ import annotations

import sys
from typing import Any

import click

from dbsp.commands import asking
from dbsp.commands.declared.commands import pipeline
from dbsp.commands.history import commands as history
from dbsp.commands.process.group import Group
from dbsp.commands.process.options import (
    VIEWS_SHOWN,
    changelog_option,
    check_changelog,
    evolve_options,
    gives_way,
    keep_options,
    listed,
    partitions_option,
    program_options,
    running_options,
    settings_of,
    show_key_option,
    state_option,
    verify_option,
)
from dbsp.commands.process.stopping import end_at_once

DIFFERS = 3


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
@partitions_option
@state_option
@click.option(
    "--output", type=click.Choice(["json", "text", "csv", "table"]), default="json", show_default=True
)
@changelog_option
@show_key_option
@verify_option
@evolve_options
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
    show_key: bool,
    verify: str,
    evolve: bool,
    backfill: str | None,
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
    check_changelog(output, changelog)
    from dbsp.commands.replays.applied import Applied  # noqa: PLC0415
    from dbsp.commands.replays.replay import replay  # noqa: PLC0415
    from dbsp.commands.step import compare, print_lines, write_lines  # noqa: PLC0415

    applied = Applied(state)
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
        backfill,
        keep_steps,
        keep_for,
        show_key,
        applied,
    )
    with applied:
        if expect is not None:
            difference = compare(lines, expect)
        elif accept is not None:
            write_lines(lines, accept)
        else:
            print_lines(lines)
    if expect is not None:
        click.echo(difference, nl=False)
        if difference and (committed := applied.said()):
            click.echo(committed, err=True)
        sys.exit(DIFFERS if difference else 0)


@main.command()
@running_options
@click.option("--once", is_flag=True, help="Take what the sources have now, then end.")
@click.option(
    "--output",
    type=click.Choice(["live-table", "table", "csv", "json"]),
    help="How changes are shown; live-table on a terminal, else json.",
)
@changelog_option
@show_key_option
@click.option("--ui", is_flag=True, help="Serve Spark's web interface.")
def run(program: str, once: bool, output: str | None, changelog: str, ui: bool, **options: Any) -> None:
    """Run the program on Spark: rows from the sources of its tables, changes to its sinks.

    \b
    Example:
      dbsp run program.sql --once
      dbsp run program.sql --state state/ --every 1s --output json
      dbsp run program.sql --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0
    """
    context = click.get_current_context()
    if gives_way(context, "every", "once"):
        options["every"] = None
    elif gives_way(context, "once", "every"):
        once = False
    if once and options["every"]:
        raise click.UsageError("--once and --every exclude each other")
    if output in VIEWS_SHOWN and gives_way(context, "changelog", "output"):
        changelog = "retract"
    elif changelog != "retract" and output in VIEWS_SHOWN and gives_way(context, "output", "changelog"):
        output = None
    check_changelog(output, changelog)
    from dbsp.commands.run import run_program  # noqa: PLC0415

    settings = settings_of(options)
    run_program(program, once=once, output=output, changelog=changelog, ui=ui, settings=settings, **options)


@main.command()
@running_options
@click.option(
    "--http", "port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port; 0: any."
)
@click.option(
    "--postgres", type=click.IntRange(0, 65535), help="A port for PostgreSQL's clients, such as 5433; 0: any."
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address; 0.0.0.0: of all networks.")
@click.option(
    "--allow-host",
    "allowed",
    multiple=True,
    metavar="NAME",
    callback=listed,
    help="A name that clients know this machine by, if not by --host.",
)
@click.option("--tls-cert", metavar="FILE", help="The certificate (PEM) by which all ports answer: https.")
@click.option("--tls-key", metavar="FILE", help="The key (PEM) of --tls-cert.")
@click.option(
    "--query-seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="A query that takes longer is ended.",
)
@click.option(
    "--query-memory",
    type=click.IntRange(1),
    default=2048,
    show_default=True,
    metavar="MB",
    help="A query that holds more at a time is ended.",
)
def serve(
    program: str,
    port: int,
    postgres: int | None,
    host: str,
    allowed: tuple[str, ...],
    tls_cert: str | None,
    tls_key: str | None,
    query_seconds: float,
    query_memory: int,
    **options: Any,
) -> None:
    """Run the program, and answer over HTTP: views, queries, changes as they happen, rows for tables.

    Reading is open to who can connect; what changes something takes the token that is printed, or the one
    in DBSP_TOKEN. GET / lists the paths. Needs `pip install 'dbsp[serve]'`.

    \b
    Example:
      dbsp serve program.sql --state state/
      curl 'localhost:8080/views/turnover?shop=Ada'
      curl -N 'localhost:8080/views/turnover/changes'
      dbsp serve program.sql --state state/ --postgres 5433
      psql -h localhost -p 5433 -c 'SELECT * FROM turnover'
      dbsp serve program.sql --host 0.0.0.0 --tls-cert server.pem --tls-key server.key
    """
    if (tls_cert is None) != (tls_key is None):
        raise click.UsageError("--tls-cert and --tls-key go together")
    from dbsp.commands.serve import serve_program  # noqa: PLC0415

    serve_program(
        program,
        host=host,
        port=port,
        postgres=postgres,
        allowed=allowed,
        a_query=(query_seconds, query_memory),
        tls=None if tls_cert is None or tls_key is None else (tls_cert, tls_key),
        settings=settings_of(options),
        **options,
    )


for command in (*asking.COMMANDS, *history.COMMANDS, pipeline):
    main.add_command(command)


def command_line() -> None:
    """The process of a command."""
    try:
        main()
    finally:
        end_at_once()


if __name__ == "__main__":
    command_line()
