"""The example with Excel, run as it stands: the sheet is corrected while it runs, and so is the view."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.spark.runs.streaming import run
from dbsp.sql.compiler.load import load_program

EXAMPLE = Path(__file__).parents[2] / "examples" / "prices"


def until(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


@pytest.mark.spark
def test_a_sheet_that_is_corrected_while_it_runs(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    with Pipeline(load_program(Path("sales.sql"), session=spark), spark=spark, runner="inline") as p:
        stop = threading.Event()
        thread = threading.Thread(target=lambda: run(p, stop=stop))
        thread.start()
        try:
            until(lambda: len(p["turnover"]) == 3)
            held = {row["product"]: row["cents"] for row in p["turnover"].rows()}
            assert held == {"hat": None, "mug": 1200, "tea": 1350}
            assert [row["text"] for row in p["bad_rows"].rows()] == ["5,tea,many"]
            book = openpyxl.load_workbook("prices.xlsx")
            book["Prices"]["B2"] = 500
            book["Prices"].append(["hat", "900"])
            book.save("prices.xlsx")
            until(lambda: p["turnover"].lookup({"product": "hat"})[0]["cents"] == 900)
            assert p["turnover"].lookup({"product": "tea"})[0]["cents"] == 1500
            steps = p.last_step
            time.sleep(1.5)
            assert p.last_step == steps  # it is read again, and nothing has changed
        finally:
            stop.set()
            thread.join()
