"""What `spark-pipelines` takes by way of spark-submit: modules to import, and a file of settings."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from dbsp.commands.process.options import listed

Command = Callable[..., Any]
# of a file of properties: a name, and after a blank, = or : its value
_PROPERTY = re.compile(r"([^\s=:]+)(?:\s*[=:]\s*|\s+|$)(.*)")


def submit_options(command: Command) -> Command:
    """Of commands that read a project."""
    for option in (
        click.option(
            "--properties-file",
            metavar="FILE",
            is_eager=True,
            expose_value=False,
            callback=_settings,
            help="Settings of the Spark session, a line each, as spark-submit reads them; --conf wins.",
        ),
        click.option(
            "--py-files",
            multiple=True,
            metavar="FILES",
            expose_value=False,
            callback=_importable,
            help="Modules (.py, .zip, .egg) that the project's own import.",
        ),
    ):
        command = option(command)
    return command


def _importable(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> None:
    found = [Path(value).resolve() for value in listed(context, option, values)]
    for path in found:
        if not path.exists() or path.suffix not in (".py", ".zip", ".egg"):
            what = "no module" if path.exists() else "no file"
            raise click.BadParameter(f"{what} '{path}'; give files .py, .zip or .egg")
    sys.path[:0] = [str(path.parent if path.suffix == ".py" else path) for path in found]


def _settings(context: click.Context, _: click.Parameter, given: str | None) -> None:
    if given is None:
        return
    try:
        text = Path(given).read_text(encoding="utf-8")
    except OSError as error:
        raise click.BadParameter(f"{given}: {error.strerror}") from error
    settings = []
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        if not line or line[0] in "#!":
            continue
        matched = _PROPERTY.fullmatch(line)
        if matched is None or line.endswith("\\"):
            raise click.BadParameter(f"{given}:{number}: '{line}' is not NAME VALUE, on one line")
        if matched[1].startswith("spark."):  # spark-submit leaves out others, too
            settings.append(f"{matched[1]}={matched[2]}")
    context.default_map = {**(context.default_map or {}), "conf": settings}
