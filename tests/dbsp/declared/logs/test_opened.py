from __future__ import annotations

from dbsp.declared.logs.delta import DeltaLog
from dbsp.declared.logs.iceberg import IcebergLog
from dbsp.declared.logs.opened import log_of
from dbsp.declared.project.datasets import Logged


def test_by_its_format():
    assert log_of("shop.sale", Logged("delta", "/there")) == DeltaLog("shop.sale", "/there")
    iceberg = Logged("iceberg", "shop.sale", (("catalog", "ice"),))
    assert log_of("ice.shop.sale", iceberg) == IcebergLog("ice.shop.sale", iceberg)
