"""`dbsp run`: its times, where it shows what, and what a signal asks for."""

from __future__ import annotations

import io
import signal

import click
import pytest

from dbsp.commands.process.options import parse_seconds
from dbsp.commands.process.stopping import Stopped, stopping
from dbsp.commands.run import default_output
from dbsp.commands.shown.display import Display
from tests.dbsp.build import pipeline


@pytest.fixture
def p():
    with pipeline() as opened:
        yield opened


@pytest.mark.parametrize(("text", "seconds"), [("1s", 1.0), ("500ms", 0.5), ("1.5 m", 90.0), ("2h", 7200.0)])
def test_times(text, seconds):
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["1", "s", "-1s", "1 fortnight", ""])
def test_what_is_no_time(text):
    with pytest.raises(click.BadParameter, match="write it as 1s"):
        parse_seconds(text)


def test_the_first_interrupt_asks_and_the_second_insists(p, capsys):
    before = signal.getsignal(signal.SIGINT)
    with stopping(Display(p, io.StringIO()).note) as stop:
        assert not stop.is_set()
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
    assert "stopping after this step" in capsys.readouterr().err
    with pytest.raises(Stopped, match="interrupted"), stopping(Display(p, io.StringIO()).note):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_terminal_gets_a_picture_and_a_pipe_the_changelog(monkeypatch):
    for is_terminal, output in ((True, "live-table"), (False, "json")):
        stdout = io.StringIO()
        stdout.isatty = lambda answer=is_terminal: answer
        monkeypatch.setattr("sys.stdout", stdout)
        assert default_output() == output
