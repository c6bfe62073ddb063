"""How a command ends: one line on stderr, one for each note of an error, and an exit status."""

from __future__ import annotations

import logging
import signal
from typing import Any

import click

from dbsp.circuits.errors import Error
from dbsp.commands.process.logs import formatter, say
from dbsp.commands.process.stopping import Stopped, stoppable
from dbsp.commands.process.unexpected import BUG, hear_once, report


class Group(click.Group):
    """Whatever ends a command is one line on stderr and an exit status; no traceback is lost."""

    def invoke(self, context: click.Context) -> Any:
        hear_once()
        raised: BaseException
        ended: BaseException | None
        try:
            with stoppable() as interruption:
                return super().invoke(context)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except click.ClickException as error:
            if formatter() is None:
                raise
            raised = ended = error
            said, status = error.format_message(), error.exit_code
        except KeyboardInterrupt as interrupt:
            raised = interrupt
            stopped = interrupt if isinstance(interrupt, Stopped) else Stopped(signal.SIGINT)
            ended, said, status = None, str(stopped), stopped.status
        except Exception as error:  # the last line of defence: the user gets a line, whatever it was
            raised = ended = error
            if interruption.by is not None:
                said, status = str(interruption.by), interruption.by.status
            elif isinstance(error, Error):
                said, status = str(error).split("\n", 1)[0], 1
            else:  # a bug
                said, status = report(error)
                ended = error if status == BUG else Error(said)
        level = logging.WARNING if ended is None else logging.ERROR
        say(said, level, ended)
        for note in getattr(raised, "__notes__", ()):
            say(note, level)
        return context.exit(status)
