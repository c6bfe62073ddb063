"""A compiled program is kept, found again by what it depends on, and never trusted when damaged."""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.functions.spark.expression import SparkExpression
from dbsp.circuits.private_directory import cache_directory
from dbsp.sql.compiler import cache
from dbsp.sql.compiler.cache import cached, read_entry, write_entry
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
    return sorted(cache_directory().glob("*.pickle"))


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


def test_a_value_whose_jar_is_gone_is_known_to_those_who_do_not_run_it(tmp_path: Path) -> None:
    """What a session fetched into a directory of its own; compiled again, a program has the session's now."""
    jar, source = tmp_path / "functions.jar", read(TEXT, "p.sql")
    jar.touch()
    value = [{"far down": SparkExpression("f", "f of a", b"", str(jar))}, SparkExpression("g", "g of a", b"")]
    write_entry(value, source, "UTC")
    assert read_entry(source, "UTC") == value
    jar.unlink()
    assert read_entry(source, "UTC") is None
    assert read_entry(source, "UTC", runs=False) == value


@pytest.mark.spark
def test_what_a_program_depends_on_is_its_key(spark: Any) -> None:
    text = "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t WHERE a > ${N}"
    load_program(text, "p.sql", {"N": "1"}, spark)
    load_program(text, "p.sql", {"N": "1", "UNUSED": "x"}, spark)
    assert len(entries()) == 1
    load_program(text, "p.sql", {"N": "2"}, spark)
    load_program(text, "other.sql", {"N": "2"}, spark)
    assert len(entries()) == 3


def test_whose_process_it_is_matters_where_the_text_may_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    other = read("CREATE VIEW v AS SELECT 'users' AS u", "p.sql")
    reading = [read(f"CREATE VIEW v AS SELECT {word} AS u", "p.sql") for word in ("USER()", "current_user")]
    before = [cache._key(source, "UTC") for source in (other, *reading)]
    monkeypatch.setenv("SPARK_USER", "another")
    same = [cache._key(source, "UTC") == key for source, key in zip((other, *reading), before, strict=True)]
    assert same == [True, False, False]


def test_a_change_of_the_compiler_s_files_is_another_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what they hold, of kernels but those of Python's functions nothing; read once."""
    for name in ("sql/a.py", "circuits/b.py", "circuits/functions/c.py", "circuits/functions/python/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(cache, "_ROOT", tmp_path)
    digest = cache._sources.__wrapped__
    before = digest()
    (tmp_path / "circuits/functions/c.py").write_text("another")
    (tmp_path / "circuits/b.py").touch()
    assert digest() == before, "the files hold what they did"
    for name in ("sql/a.py", "circuits/functions/python/d.py"):
        (tmp_path / name).write_text(f"{name}, changed")
        assert digest() != before
        (tmp_path / name).write_text(name)
    assert digest() == before
    with monkeypatch.context() as unread:
        unread.setattr(Path, "read_bytes", None)
        assert digest() == before, "from what is kept"


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


class Bomb:
    """Unpickled, it leaves a trace."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, tuple[Path]]:
        return Path.touch, (self.trace,)


def planted(entry: Path, trace: Path) -> None:
    """In place of the entry, what runs when it is unpickled, with a checksum that is right."""
    body = pickle.dumps(Bomb(trace))
    entry.write_bytes(hashlib.sha256(body).digest() + body)


def to_another_user(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may give files away")
    os.chown(path, 65534, 65534)


SOMEBODY_ELSE = {
    "a file of another user": to_another_user,
    "a file that the group may write": lambda entry: entry.chmod(0o620),
    "a file that anybody may write": lambda entry: entry.chmod(0o602),
    "a directory of another user": lambda entry: to_another_user(entry.parent),
    "a directory that the group may write": lambda entry: entry.parent.chmod(0o770),
    "a directory that anybody may write": lambda entry: entry.parent.chmod(0o1777),
    "a link to a file": lambda entry: os.symlink(entry.rename(entry.with_suffix(".elsewhere")), entry),
    "a link to a directory": lambda entry: os.symlink(
        entry.parent.rename(entry.parent.with_name("elsewhere")), entry.parent
    ),
    "a pipe": lambda entry: (entry.unlink(), os.mkfifo(entry, 0o600)),
}


@pytest.mark.spark
@pytest.mark.parametrize("way", SOMEBODY_ELSE)
def test_what_another_user_could_have_written_is_not_unpickled(
    spark: Any, tmp_path: Path, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    program = load_program(TEXT, "p.sql", session=spark)
    (entry,) = entries()
    trace = tmp_path / "trace"
    planted(entry, trace)
    SOMEBODY_ELSE[way](entry)
    assert load_program(TEXT, "p.sql", session=spark) == program
    assert not trace.exists()
    if way.startswith(("a file", "a directory")):
        (said,) = [record.getMessage() for record in caplog.records]
        named = entry if way.startswith("a file") else entry.parent
        assert said.startswith(f"{named}: not used, so what it keeps is made anew: ")


@pytest.mark.spark
def test_one_s_own_entry_would_be_unpickled(spark: Any, tmp_path: Path) -> None:
    load_program(TEXT, "p.sql", session=spark)
    (entry,) = entries()
    planted(entry, tmp_path / "trace")
    load_program(TEXT, "p.sql", session=spark)
    assert (tmp_path / "trace").exists()


@pytest.mark.spark
def test_the_cache_is_its_user_s_whatever_the_umask(spark: Any, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        program = load_program(TEXT, "p.sql", session=spark)
    finally:
        os.umask(before)
    (entry,) = entries()
    assert (stat.S_IMODE(entry.parent.stat().st_mode), stat.S_IMODE(entry.stat().st_mode)) == (0o700, 0o600)
    assert cached(read(TEXT, "p.sql"), "UTC", never) == program
    assert entries() == [entry]
