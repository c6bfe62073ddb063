"""Whether what views without STREAM read is kept."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.compiler.scope.defined import Defined
from dbsp.sql.compiler.streams.histories import Histories
from dbsp.sql.plans.nodes import Scan, Union
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import View
from dbsp.sql.plans.schemas import Field
from dbsp.sql.text.source import as_it_is
from dbsp.sql.text.tokens import Slice

SCHEMA = (Field("x", pa.int64()),)
TEXT = "SELECT x FROM s; SELECT x FROM v"


def reading(*names: str) -> Plan:
    plans = tuple(Scan(name, SCHEMA) for name in names)
    return plans[0] if len(plans) == 1 else Union(plans, SCHEMA)


@pytest.fixture
def histories() -> Histories:
    """s: a stream without history; m: one that has it; v reads s, and l, which is LOCAL, reads v."""
    defined = Defined(streams={"s": False, "m": True, "v": False, "l": False})
    defined.views["v"] = View("v", SCHEMA, "view", reading("s"), False, "p.sql:1:1")
    defined.views["l"] = View("l", SCHEMA, "local", reading("v"), False, "p.sql:1:1")
    found = Histories(as_it_is(TEXT, "p.sql"), defined.streams, defined.views)
    found.add("v", "view", Slice(TEXT[:15], 0), reading("s"))
    found.add("l", "local", Slice(TEXT[17:], 17), reading("v"))
    return found


@pytest.mark.parametrize("served", ["v", "l"])
@pytest.mark.parametrize("read", [("v",), ("l",), ("l", "m", "table")])
def test_a_view_that_a_stream_reads_is_kept(histories: Histories, served: str, read: tuple[str, ...]) -> None:
    histories.add("r", "view", Slice(TEXT[17:], 17), reading(*read))
    with pytest.raises(ProgramError, match=r"p.sql:1:15: cannot convert stream 's' to a table"):
        histories.check()
    histories.serve(reading(served))
    histories.check()


def test_what_reads_the_stream_beside_it_is_refused(histories: Histories) -> None:
    histories.serve(reading("v"))
    histories.add("r", "view", Slice(TEXT[:15], 0), reading("v", "s"))
    with pytest.raises(ProgramError, match="'s'"):
        histories.check()
