"""`--log json`: what a command says on stderr, as one JSON line a record.

    {"time": "2026-01-31T09:00:00.123Z", "level": "INFO", "logger": "dbsp", "message": "step 7: ...", ...}

A step has its number, `seconds`, `phases`, `rows_in` and `rows_out` by relation; an error its class and text,
and its traceback where it is a bug. Passwords and tokens are left out.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import click

from dbsp.circuits.errors import Error
from dbsp.running.secrets import Secrets

log = logging.getLogger("dbsp")


class JsonLines(logging.Formatter):
    """A record as a line; what `extra={"fields": {...}}` gave it stands beside the message."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets = Secrets()

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")[:-6] + "Z",
            "level": record.levelname,
            "logger": record.name,
            "message": self.secrets.hidden(record.getMessage()),
            **getattr(record, "fields", {}),
        }
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            said["error"] = {"class": type(error).__name__, "text": self.secrets.hidden(str(error))}
            if not isinstance(error, Error | click.ClickException | KeyboardInterrupt):
                said["traceback"] = self.secrets.hidden("".join(traceback.format_exception(error)))
        return json.dumps(said, default=str)


def say(text: str, level: int = logging.INFO, error: BaseException | None = None) -> None:
    """A line for who runs the command, on stderr; a record where those are asked for."""
    if formatter() is None:
        click.echo(text, err=True)
    else:
        log.log(level, "%s", text, exc_info=error)


def formatter() -> JsonLines | None:
    """The one of this process, where records are asked for."""
    formatters = (handler.formatter for handler in logging.getLogger().handlers)
    return next((one for one in formatters if isinstance(one, JsonLines)), None)


@contextmanager
def json_lines() -> Iterator[None]:
    """Within, what is logged from INFO on is a line of JSON each; so are warnings and ends of threads."""
    root, handler = logging.getLogger(), logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root.addHandler(handler)
    level = log.level
    log.setLevel(logging.INFO)
    logging.captureWarnings(True)
    hook, threading.excepthook = threading.excepthook, _thread_ended
    try:
        yield
    finally:
        threading.excepthook = hook
        logging.captureWarnings(False)
        log.setLevel(level)
        root.removeHandler(handler)


def _thread_ended(ended: threading.ExceptHookArgs) -> None:
    name = ended.thread.name if ended.thread is not None else "a thread"
    if ended.exc_value is not None and not isinstance(ended.exc_value, SystemExit):
        log.error("thread %s has ended", name, exc_info=ended.exc_value)


def choose(context: click.Context, _: click.Parameter, form: str) -> None:
    """The callback of `--log`: it holds from here to the end of the process' command."""
    if form == "json" and formatter() is None and not context.resilient_parsing:
        context.find_root().with_resource(json_lines())


log_option = click.option(
    "--log",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    is_eager=True,
    expose_value=False,
    callback=choose,
    envvar="DBSP_LOG",
    help="What is said on stderr: lines for people, or one JSON object each, a step's too; or DBSP_LOG.",
)
