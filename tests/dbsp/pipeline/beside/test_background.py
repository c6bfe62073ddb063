"""A run in the background: seen while it runs, ended by its user, its failure told."""

from __future__ import annotations

import logging
import threading

import pytest

from dbsp.circuits.errors import DataError, StateError
from dbsp.pipeline.beside.background import Background
from tests.dbsp.pipeline.spark.shop import FILES, SOLD, opened, sell


def test_it_ends_when_it_is_told_to() -> None:
    ending = threading.Event()

    def run() -> int:
        ending.wait()
        return 7

    background = Background(run, ending)
    assert background.running
    assert background.stop() == 7
    assert not background.running


def test_what_ended_it_is_raised_where_it_is_stopped() -> None:
    def run() -> int:
        raise DataError("a row")

    background = Background(run, threading.Event())
    with pytest.raises(DataError, match="a row"):
        background.stop()
    assert isinstance(background.failure, DataError)


@pytest.mark.spark
def test_views_are_read_while_it_runs_and_it_can_be_started_again(spark, shop):
    seen = threading.Semaphore(0)
    with opened(spark, shop) as p:
        assert not p.running and p.stop() == 0
        p.start(on_step=lambda changes: seen.release())
        assert p.running
        with pytest.raises(StateError, match="runs already"):
            p.start()
        assert seen.acquire(timeout=60) and seen.acquire(timeout=60)
        assert p["sold"].lookup("a") == [SOLD[0]]
        assert p.stop() == p.last_step == 2
        assert not p.running
        sell(shop, "3")
        p.start(on_step=lambda changes: seen.release())
        assert seen.acquire(timeout=60)
        assert p["sold"].rows() == SOLD
    assert not p.running  # it was stopped with the pipeline


@pytest.mark.spark
def test_a_row_that_ends_it_is_told_once(spark, shop, caplog):
    (shop / "sales" / "3.csv").write_text("oops,1,\n")
    with opened(spark, shop) as p:
        p.start()
        p._background._thread.join(60)
        assert not p.running and p.last_step == 2
        with pytest.raises(DataError, match="column 'product'"):
            p.stop()
        assert p.stop() == 0
        p.start()
        p._background._thread.join(60)
        with caplog.at_level(logging.ERROR, "dbsp"):
            p.close()
        assert "column 'product'" in caplog.text
    (shop / "sales" / "3.csv").write_text(FILES[2])
    with opened(spark, shop) as p:
        p.run(once=True)
        assert p["sold"].rows() == SOLD
