"""dbsp.toml: options of `dbsp run` and `dbsp serve`, for those that the command line leaves out.

    state = "state"
    every = "1s"
    packages = ["org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"]

    [conf]
    "spark.executor.memory" = "4g"

    [define]
    BROKER = "kafka:9092"

Each key is an option without its dashes. One that only another of the commands has is nothing to this one: a
project has one file. Of [conf] and [define] the command line may replace single names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from dbsp.circuits.errors import Error, did_you_mean

NAME = "dbsp.toml"
# tables of names and values; what else may be given several times is a list
_TABLES = ("conf", "define")
# what is said of one call only
_NOT_HERE = ("config", "help", "program", "evolve", "backfill")


def read_config(path: Path, command: click.Command, beside: Iterable[click.Command] = ()) -> dict[str, Any]:
    """Its values by the names of the command's parameters, as click takes them. Raises Error.

    beside: the commands that may have this file, too.
    """
    import tomllib  # noqa: PLC0415  most directories have no such file

    try:
        data = path.read_bytes()
    except OSError as error:
        raise Error(f"{path}: can't read the options: {error.strerror}") from None
    try:
        given = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Error(f"{path}: {error}") from None
    known = _options(command)
    others = {name for one in beside for name in _options(one)} - known.keys()
    found = {}
    for key, value in given.items():
        name = key.replace("_", "-")
        if name in others:
            continue
        if name not in known:
            there = sorted({*known, *others})
            raise Error(
                f"{path}: unknown key '{key}'; there are: {', '.join(there)}{did_you_mean(name, there)}"
            )
        parameter = known[name]
        assert parameter.name is not None
        found[parameter.name] = _checked(path, key, parameter, value)
    return found


def _options(command: click.Command) -> dict[str, click.Parameter]:
    """Those that the file may say, as it says them."""
    return {_spelled(p): p for p in command.params if p.name and p.name not in _NOT_HERE}


def _spelled(parameter: click.Parameter) -> str:
    """As the command line has it: `--http` is `http`, whatever it is called in here."""
    return max(parameter.opts, key=len).removeprefix("--").replace("_", "-")


def _checked(path: Path, key: str, parameter: click.Parameter, value: object) -> object:
    if parameter.name in _TABLES:
        if not isinstance(value, Mapping) or any(isinstance(each, dict | list) for each in value.values()):
            raise Error(f'{path}: {key} is a table of names and values: [{key}], then "name" = "value"')
        return [f"{name}={_text(each)}" for name, each in value.items()]
    if isinstance(parameter, click.Option) and parameter.multiple:
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise Error(f'{path}: {key} is a list of texts: {key} = ["...", "..."]')
        return value
    if isinstance(value, dict | list):
        raise Error(f"{path}: {key} is one value, not {value}")
    return value if isinstance(value, bool) else str(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
