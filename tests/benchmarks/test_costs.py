"""Ten fixed programs cost what they did at the last release.

    python -m tests.benchmarks.test_costs     records what Catalyst says of them

A step of 100 events calls as many functions as it did, whatever else the machine does. The CPU of large
steps, by that of a fixed piece of work in the same run, may be twice what it was: a bound that only a
mistake exceeds. After a change that is meant: `python -m benchmarks.costs --record`.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from benchmarks.costs import QUERIES, costs, recorded
from benchmarks.nexmark.queries import program
from dbsp.sql.catalyst import compile_session
from dbsp.sql.compiler.load import compile_program
from tests.oracles.recorded_catalyst import Answers, Recorded, in_its_place, record

FILE = Path(__file__).with_name("costs_catalyst.json.gz")
MORE_CALLS, MORE_WORK = 1.15, 2.0


@cache
def known() -> dict[str, Answers]:
    return json.loads(gzip.decompress(FILE.read_bytes()))


@pytest.mark.slow
@pytest.mark.parametrize("query", QUERIES)
def test_a_program_costs_what_it_did(query: str) -> None:
    with in_its_place(Recorded(known()[query])):
        compiled = compile_program(program(query), session=object())  # type: ignore[arg-type]
    found, before = costs(compiled, times=1), recorded()[query]
    if found["work"] > MORE_WORK * before["work"]:  # something else may have run beside it
        found["work"] = min(found["work"], costs(compiled)["work"])
    advice = "if that is meant: python -m benchmarks.costs --record"
    assert found["calls"] <= MORE_CALLS * before["calls"], advice
    assert found["work"] <= MORE_WORK * before["work"], advice


def main() -> None:
    with compile_session() as session:
        answers = {query: record(program(query), session) for query in QUERIES}
    FILE.write_bytes(gzip.compress(json.dumps(answers, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
