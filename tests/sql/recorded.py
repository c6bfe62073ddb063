"""Small programs compiled without a JVM: Catalyst's answers are kept beside this file.

    python -m tests.sql.recorded     asks Catalyst of the programs that nobody has asked of yet

These are those that tests in `catalyst/` and `compiler/` compile; others are dropped. To ask of all anew,
delete the record first. Only answers are kept, not our plans, as in `tests/oracles/recorded_catalyst.py`;
`test_recorded.py` asks today's Catalyst the same questions.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.sql.catalyst import compile_session
from dbsp.sql.compiler.load import compile_program
from dbsp.sql.plans.plan import Plan
from dbsp.sql.plans.program import Program, View
from tests.oracles.recorded_catalyst import Answers, Recorded, in_its_place, record
from tests.sql.hand_made import assert_as_duckdb

FILE = Path(__file__).with_suffix(".json.gz")
RENEW = "record it anew: python -m tests.sql.recorded"
# one line, so that what a test says stands on the second
TABLES = (
    "CREATE TABLE t (a BIGINT, b BIGINT, c BIGINT, d BIGINT); "
    "CREATE TABLE u (a BIGINT, b BIGINT, c BIGINT, d BIGINT); "
    "CREATE TABLE e (k BIGINT, ts TIMESTAMP, x DOUBLE, s STRING, l ARRAY<BIGINT>, day DATE); "
)


@cache
def known() -> dict[str, Answers]:
    """By the program's text."""
    return json.loads(gzip.decompress(FILE.read_bytes())) if FILE.exists() else {}


class _Session:
    """While `main` records: where programs are asked about, and all that have been."""

    spark: Any = None
    asked: dict[str, Answers] = {}  # noqa: RUF012  of one process


@contextmanager
def answering(text: str) -> Iterator[None]:
    """Catalyst says what it said of the program."""
    if _Session.spark is not None and text not in _Session.asked:
        _Session.asked[text] = known().get(text) or record(text, _Session.spark)
    answers = _Session.asked if _Session.spark is not None else known()
    assert text in answers, f"{FILE.name} doesn't know this program; {RENEW}\n{text}"
    with in_its_place(Recorded(answers[text])):
        yield


def compiled(text: str) -> Program:
    """Raises ProgramError where it is refused."""
    with answering(text):
        return compile_program(text, "p.sql", session=object())  # type: ignore[arg-type]


def view_of(query: str) -> View:
    """The query, which stands on the second line, as a view over t, u and e."""
    return compiled(f"{TABLES}CREATE VIEW v AS\n{query}").views["v"]


def plan_of(query: str) -> Plan:
    return view_of(query).plan


def check_rows(query: str, in_duckdb: str | None = None, seed: int = 0) -> None:
    """The rows of the query are those that DuckDB has of it, or of its own spelling of it."""
    assert_as_duckdb(plan_of(query), in_duckdb or query, seed)


def check_refused(query: str, error: str) -> None:
    """error: the place in the query, and how the message begins."""
    check_program_refused(f"{TABLES}CREATE VIEW v AS\n{query}", f"2:{error}")


def check_program_refused(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(text)
    assert str(raised.value).startswith(f"p.sql:{error}")


def nodes_of(plan: Plan, kind: type[Any]) -> list[Any]:
    """From the root down."""
    found = [plan] if isinstance(plan, kind) else []
    return found + [node for below in plan.inputs for node in nodes_of(below, kind)]


def main() -> None:
    # what tests import, which is another module than the one that runs
    from tests.sql import recorded  # noqa: PLC0415

    with compile_session() as session:
        recorded._Session.spark = session
        quietly = ["-q", "--tb=line", "-m", "not spark", "-p", "no:cacheprovider"]
        failed = pytest.main([*quietly, *(str(FILE.parent / folder) for folder in ("catalyst", "compiler"))])
    asked = recorded._Session.asked
    packed = gzip.compress(json.dumps(asked, separators=(",", ":")).encode(), mtime=0)
    FILE.write_bytes(packed)
    print(f"{FILE.name}: {len(asked)} programs, {len(packed) // 1024} kB; pytest says {failed}")


if __name__ == "__main__":
    main()
