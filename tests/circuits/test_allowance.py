"""What is evaluated for somebody who waits ends soon after the wait, and before it takes too much memory."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from dbsp.circuits.allowance import Allowance, may_go_on
from dbsp.circuits.columns.ranges import expand_ranges
from dbsp.circuits.errors import Ended, TooMuch


def busy() -> None:
    while True:
        may_go_on()


def test_what_takes_too_long_ends() -> None:
    with pytest.raises(Ended):
        Allowance(0.05, 1).within(busy)()


def test_what_nobody_waits_for_any_more_ends_in_its_thread() -> None:
    allowance, ended = Allowance(60, 1), threading.Event()

    def run() -> None:
        with pytest.raises(Ended):
            allowance.within(busy)()
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.02)
    allowance.end()
    assert ended.wait(60)
    thread.join()


def test_pairs_are_counted_before_they_are_made() -> None:
    many = np.full(1000, 10**12)
    with pytest.raises(TooMuch, match=r"takes [\d,]+ MB at a time, and may take 1 MB; ask for less"):
        Allowance(60, 1 << 20).within(lambda: expand_ranges(np.zeros(1000, np.int64), many))()


def test_without_an_allowance_everything_goes_on() -> None:
    may_go_on(1 << 60)
