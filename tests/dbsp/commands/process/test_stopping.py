"""A signal ends what is open in order: it is raised, and each end has its status."""

from __future__ import annotations

import os
import signal
import threading

import click
import pytest

from dbsp.circuits.errors import Error
from dbsp.commands.process.group import Group
from dbsp.commands.process.stopping import SIGNALS, Stopped, stoppable


@pytest.mark.parametrize(
    ("number", "status", "word"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_is_raised_and_says_how_it_ended(number: int, status: int, word: str) -> None:
    before = [signal.getsignal(one) for one in SIGNALS]
    with pytest.raises(Stopped) as caught, stoppable():
        os.kill(os.getpid(), number)
        signal.pause()  # pragma: no cover
    assert caught.value.status == status
    assert str(caught.value) == f"{word}; a state directory is as its last committed step left it"
    assert isinstance(caught.value, KeyboardInterrupt), "whoever cleans up after Ctrl-C does so here"
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_handlers_are_those_before_whatever_happens() -> None:
    before = [signal.getsignal(one) for one in SIGNALS]
    with pytest.raises(ValueError, match="inside"), stoppable():
        assert [signal.getsignal(one) for one in SIGNALS] != before
        raise ValueError("inside")
    assert [signal.getsignal(one) for one in SIGNALS] == before


def test_another_thread_leaves_them_alone() -> None:
    before = [signal.getsignal(one) for one in SIGNALS]
    seen = []

    def enter() -> None:
        with stoppable():
            seen.append([signal.getsignal(one) for one in SIGNALS])

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]


def test_what_fails_after_an_interruption_is_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """As the request to a JVM does whose answer the signal came before."""

    @click.command(cls=Group)
    def main() -> None: ...

    @main.command()
    def run() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            signal.pause()  # pragma: no cover
        finally:
            raise ConnectionError("Answer from Java side is empty")

    @main.command()
    def fail() -> None:
        raise Error("of its own")

    def ends(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            main([*arguments])
        assert isinstance(caught.value.code, int)
        return caught.value.code, capsys.readouterr().err

    assert ends("run") == (130, "interrupted; a state directory is as its last committed step left it\n")
    assert ends("fail") == (1, "of its own\n"), "an earlier command's interruption is not this one's"
