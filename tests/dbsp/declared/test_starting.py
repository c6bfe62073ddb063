from __future__ import annotations

import subprocess
import sys

import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.starting import started
from dbsp.running.spark.settings import Settings

pytestmark = pytest.mark.spark

SCRIPT = """
from dbsp.declared.starting import started
from dbsp.running.spark.settings import Settings
zone = "spark.sql.session.timeZone"
spark = started(Settings())
print("told", spark.conf.get("spark.sql.warehouse.dir"), spark.conf.get(zone))
spark.stop()
print("told", started(Settings(conf={zone: "Asia/Tokyo"})).conf.get(zone))
"""


def test_tables_lie_here_and_the_time_zone_is_the_machines(tmp_path, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    told = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("told")]
    assert told == [[f"file:{tmp_path}/spark-warehouse", "Asia/Kolkata"], ["Asia/Tokyo"]], done.stderr


def test_another_warehouse_is_refused(spark):
    with pytest.raises(Error, match=r"runs already, without spark\.sql\.warehouse\.dir = /nowhere"):
        started(Settings(conf={"spark.sql.warehouse.dir": "/nowhere"}))
