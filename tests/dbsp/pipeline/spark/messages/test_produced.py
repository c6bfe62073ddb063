"""Who writes a table's messages; what is written: `test_encoding`, and `test_transactions`."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from dbsp.pipeline.spark.messages.produced import producing_of
from dbsp.pipeline.spark.messages.producing import Producing
from dbsp.pipeline.spark.messages.transactions import Transactions
from tests.dbsp.build import VOTES, table

OPTIONS = {"kafka.bootstrap.servers": "x", "topic": "t"}


@pytest.mark.parametrize(
    ("options", "once", "wanted"),
    [
        (OPTIONS, False, Producing),
        (OPTIONS, True, Transactions),
        ({**OPTIONS, "kafka.security.protocol": "SSL"}, False, None),
        ({**OPTIONS, "kafka.security.protocol": "SSL"}, True, Transactions),
        ({"kafka.bootstrap.servers": "x"}, False, None),
    ],
)
def test_who_writes(options: dict[str, str], once: bool, wanted: type | None) -> None:
    target = replace(table("t", VOTES), options=options, in_transactions=once)
    outlet: Any = SimpleNamespace(table=target, check_package=lambda *_: None)
    found = producing_of(outlet)
    assert found is None if wanted is None else type(found) is wanted
