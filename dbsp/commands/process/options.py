"""Options that several commands take, and how their values are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from glob import glob
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
from click.core import ParameterSource

from dbsp.commands.process.config import NAME, read_config
from dbsp.commands.process.logs import formatter, log_option
from dbsp.commands.process.traces import otlp_option
from dbsp.running.spark.settings import Settings

Command = Callable[..., Any]
# ways of --output that show views, not what changes
VIEWS_SHOWN = ("table", "live-table")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def defines(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """What is given, and what it leaves out of a configuration file's."""
    pairs = {}
    for value in (*(context.lookup_default(option.name or "") or ()), *values):
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"'{value}' is not NAME=VALUE")
        pairs[name] = text
    lines = formatter()
    if lines is not None:
        lines.secrets.add(pairs)
    return pairs


def listed(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Of several options, and of several values in one."""
    return tuple(each.strip() for value in values for each in value.split(",") if each.strip())


def jars_of(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """As `listed`; a path of this machine is of a file that is there. It may be a pattern, as Spark's."""
    found = listed(context, option, values)
    for jar in found:
        parts = urlsplit(jar)
        if parts.scheme in ("", "file") and not glob(unquote(parts.path) if parts.scheme else jar):
            raise click.BadParameter(f"no such file: '{jar}'")
    return found


def configure(context: click.Context, _: click.Parameter, given: str | None) -> None:
    """What the command line leaves out is as the file says."""
    path = Path(given or NAME)
    if given is not None or path.exists():
        group = context.parent.command if context.parent is not None else None
        there = group.commands.values() if isinstance(group, click.Group) else ()
        beside = [command for command in there if _reads_config(command)]
        context.default_map = {**(context.default_map or {}), **read_config(path, context.command, beside)}


def _reads_config(command: click.Command) -> bool:
    """Whether it has the option: whether it reads the file."""
    return any(parameter.name == "config" for parameter in command.params)


def gives_way(context: click.Context, name: str, other: str) -> bool:
    """Whether the file has an option, and the command line another that excludes it."""
    given = context.get_parameter_source
    return given(name) is ParameterSource.DEFAULT_MAP and given(other) is ParameterSource.COMMANDLINE


def check_changelog(output: str | None, changelog: str) -> None:
    if output in VIEWS_SHOWN and changelog != "retract":
        raise click.UsageError(f"--changelog is of json, csv and text; --output {output} shows the views")


def program_options(command: Command) -> Command:
    """PROGRAM and what every command that compiles one takes."""
    define = click.option(
        "--define",
        "-D",
        multiple=True,
        metavar="NAME=VALUE",
        callback=defines,
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


show_key_option = click.option(
    "--show-key",
    is_flag=True,
    help="Views show the key that they don't select, too, as __key_...; a program may SET show_key = true.",
)


verify_option = click.option(
    "--verify",
    type=click.Choice(["open", "first read", "never"]),
    default="first read",
    show_default=True,
    help="When stored rows are compared with their checksums.",
)


backfill_option = click.option(
    "--backfill",
    type=click.Choice(["from-source"]),
    help="Of --evolve: read a table's files or messages again, where a new view needs rows nobody holds.",
)


def evolve_options(command: Command) -> Command:
    """What a command does with the state of another program."""
    evolve = click.option(
        "--evolve",
        is_flag=True,
        help="Change the program of the state to this one, and say how (`dbsp plan`).",
    )
    return evolve(backfill_option(command))


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


max_undelivered_option = click.option(
    "--max-undelivered",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Steps that a sink which is down may be without, before the run ends; 0 unless given.",
)


def spark_options(command: Command) -> Command:
    """How the session is made that the steps run in."""
    for option in (
        click.option(
            "--jars", multiple=True, metavar="FILE", callback=jars_of, help="Jars that Spark loads."
        ),
        click.option(
            "--packages",
            multiple=True,
            metavar="GROUP:ARTIFACT:VERSION",
            callback=listed,
            help="Packages for Spark to fetch, such as the connector of Kafka.",
        ),
        click.option(
            "--conf",
            multiple=True,
            metavar="NAME=VALUE",
            callback=defines,
            help="A setting of the Spark session.",
        ),
        click.option(
            "--master", metavar="URL", help="Where Spark runs; all cores of this machine unless given."
        ),
    ):
        command = option(command)
    return command


def settings_of(options: dict[str, Any]) -> Settings:
    """Those of `spark_options`, taken out of a command's options."""
    return Settings(*(options.pop(name) for name in ("master", "conf", "packages", "jars")))


config_option = click.option(
    "--config",
    metavar="FILE",
    is_eager=True,
    expose_value=False,
    callback=configure,
    help="Where options are that the command line leaves out; ./dbsp.toml, if it is there.",
)


state_option = click.option(
    "--state", metavar="DIR", help="Go on from, and keep, the state in DIR: a path, or s3://..."
)


partitions_option = click.option(
    "--partitions", type=click.IntRange(min=1), metavar="N", help="Tasks that share a large step."
)


def running_options(command: Command) -> Command:
    """Of what runs a program from its sources to its sinks."""
    every = click.option(
        "--every", metavar="TIME", help="Start a step at most this often, such as 1s or 500ms."
    )
    for option in (
        keep_options,
        evolve_options,
        verify_option,
        otlp_option,
        log_option,
        config_option,
        spark_options,
        max_undelivered_option,
        partitions_option,
        every,
        state_option,
    ):
        command = option(command)
    return program_options(command)


def parse_seconds(text: str) -> float:
    """0.5 for '500ms'. Raises click.BadParameter."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise click.BadParameter(f"'{text}' is no time; write it as 1s, 500ms or 2m", param_hint="--every")
    return float(match[1]) * _UNITS[match[2]]
