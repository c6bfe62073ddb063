"""What a user writes runs, as it is type-checked against the wheel."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

from dbsp.testing.setting import SETTING
from tests.architecture.imports import ROOT

PLAIN = """\
CREATE TABLE shop (id BIGINT PRIMARY KEY, name STRING);
CREATE TABLE sale (id BIGINT PRIMARY KEY, shop BIGINT, day INT, price BIGINT);
"""
JOINED = "FROM sale JOIN shop ON sale.shop = shop.id GROUP BY name"
PROGRAM = f"""{PLAIN}
CREATE VIEW turnover AS
SELECT name, count(*) AS n, twice(sum(price)) AS total, most(price) AS top, max(day) AS day {JOINED};
CREATE TABLE alerts (name STRING, total BIGINT, __weight BIGINT) USING python;
INSERT INTO alerts SELECT name, total FROM turnover;
"""


@pytest.mark.spark
@pytest.mark.slow
def test_it_runs(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "program.sql").write_text(PROGRAM)
    (tmp_path / "plain.sql").write_text(f"{PLAIN}CREATE VIEW n AS SELECT name, count(*) AS n {JOINED};")
    (tmp_path / "deltas.sql").write_text(
        "INSERT INTO shop VALUES (1, 'Ada'); INSERT INTO sale VALUES (1, 1, 1, 2);"
    )
    (tmp_path / "expected.jsonl").write_text(
        '{"step": 1, "view": "n", "row": {"name": "Ada", "n": 1}, "weight": 1}\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(SETTING, "folder", tmp_path)  # as the plugin does for a test that stands there
    copied = shutil.copy(
        ROOT / "tests" / "architecture" / "consumer.py", tmp_path
    )  # which has these beside it
    runpy.run_path(str(copied), run_name="__main__")
