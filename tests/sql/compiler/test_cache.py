"""A compiled program is kept, found again by what it depends on, and never trusted when damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dbsp.sql.compiler.cache import cache_directory, cached
from dbsp.sql.compiler.load import load_program
from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import read

TEXT = "CREATE TABLE t (a INT, ts TIMESTAMP); CREATE VIEW v AS SELECT a, hour(ts) AS h FROM t"


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def never() -> Program:
    raise AssertionError("compiled again")


def entries() -> list[Path]:
    return sorted(cache_directory().iterdir())


@pytest.mark.spark
def test_a_known_program_is_not_compiled_again(spark: Any) -> None:
    program = load_program(TEXT, "p.sql", session=spark)
    assert cached(read(TEXT, "p.sql"), "UTC", never) == program
    assert len(entries()) == 1


@pytest.mark.spark
@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_a_damaged_entry_is_ignored_and_rewritten(damage: bytes | None, spark: Any) -> None:
    program = load_program(TEXT, "p.sql", session=spark)
    (entry,) = entries()
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1] if damage is None else damage)
    assert load_program(TEXT, "p.sql", session=spark) == program
    assert entry.read_bytes() == whole


@pytest.mark.spark
def test_what_a_program_depends_on_is_its_key(spark: Any) -> None:
    text = "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t WHERE a > ${N}"
    load_program(text, "p.sql", {"N": "1"}, spark)
    load_program(text, "p.sql", {"N": "1", "UNUSED": "x"}, spark)
    assert len(entries()) == 1
    load_program(text, "p.sql", {"N": "2"}, spark)
    load_program(text, "other.sql", {"N": "2"}, spark)
    assert len(entries()) == 3


@pytest.mark.spark
def test_a_cache_that_cannot_be_written_is_no_error(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_program(TEXT, "p.sql", session=spark).views.keys() == {"v"}


@pytest.mark.spark
def test_a_hit_imports_neither_pyspark_nor_a_parser(spark: Any, tmp_path: Path) -> None:
    path = tmp_path / "p.sql"
    path.write_text(TEXT)
    program = load_program(path, session=spark)
    script = (
        "import sys; from pathlib import Path; from dbsp.sql.compiler.load import load_program\n"
        f"print(load_program(Path({str(path)!r})).fingerprint)\n"
        "heavy = ('pyspark', 'py4j', 'dbsp.sql.compiler.compile', 'dbsp.sql.text.tokens', 'pandas')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert answer.stdout.split("\n")[:2] == [program.fingerprint, "[]"]
