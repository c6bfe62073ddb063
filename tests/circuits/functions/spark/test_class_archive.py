"""An archive of classes is mapped where it is whole and nobody else's, and written by one JVM at a time."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dbsp.circuits.functions.spark import class_archive as module
from dbsp.circuits.functions.spark import process
from dbsp.circuits.functions.spark.class_archive import ClassArchive, class_archive

# by a JVM of ours, before the run of all tests (`tests.servers.class_archive`)
RECORDED = re.search(r"-XX:SharedArchiveFile=(\S+)", os.environ.get("SPARK_SUBMIT_OPTS", ""))
WHOLE, HALF = b"\xa8\xab\x0b\xf0 and more", bytes(8)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_SUBMIT_OPTS", raising=False)  # which may map one in the run of all tests
    return tmp_path / "dbsp-classes"


def recorded(directory: Path, content: bytes) -> Path:
    """What a JVM has left there that recorded."""
    base = module.archive_base()
    assert base is not None
    new = base.with_suffix(".new")
    assert new.parent == directory
    new.write_bytes(content)
    return new


def test_what_was_recorded_is_mapped(directory: Path) -> None:
    archive = recorded(directory, WHOLE).with_suffix(".jsa")
    for _ in range(2):
        assert class_archive(may_list=True) == ClassArchive((f"-XX:SharedArchiveFile={archive}",))
    assert [one.name for one in directory.iterdir()] == [archive.name]


def test_one_whose_end_nobody_sees_lists_nothing(directory: Path) -> None:
    assert class_archive() == ClassArchive()
    assert list(directory.iterdir()) == []


def test_each_jvm_has_a_list_of_its_own(directory: Path) -> None:
    first, second = class_archive(may_list=True), class_archive(may_list=True)
    assert first.listed and second.listed and first.listed.file != second.listed.file
    assert first.options == (f"-XX:DumpLoadedClassList={first.listed.file}",)


def test_what_is_half_written_is_left_alone(directory: Path) -> None:
    new = recorded(directory, HALF)
    assert class_archive() == ClassArchive()
    new.write_bytes(WHOLE)
    assert class_archive().options == (f"-XX:SharedArchiveFile={new.with_suffix('.jsa')}",)


@pytest.mark.parametrize("which", ["", "*.jsa"])
def test_what_others_may_write_is_not_mapped(directory: Path, which: str) -> None:
    recorded(directory, WHOLE)
    assert class_archive().options
    found = next(directory.glob(which)) if which else directory
    found.chmod(found.stat().st_mode | 0o002)
    assert class_archive() == ClassArchive()


def test_who_may_rename_what_is_above_may_not_have_it_mapped(directory: Path) -> None:
    recorded(directory, WHOLE)
    directory.parent.chmod(0o777)
    assert class_archive() == ClassArchive()
    directory.parent.chmod(0o1777)  # as /tmp is
    assert class_archive().options


def test_of_another_java_and_other_jars_it_is_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    names = {module._name()}
    java, home = tmp_path / "java", tmp_path / "spark"
    java.write_text("")
    monkeypatch.setattr(module, "java_path", lambda: str(java))
    names.add(module._name())
    (home / "jars").mkdir(parents=True)
    monkeypatch.setenv("SPARK_HOME", str(home))
    names.add(module._name())
    (home / "jars" / "a.jar").write_text("1")
    names.add(module._name())
    (home / "jars" / "a.jar").write_text("22")
    names.add(module._name())
    monkeypatch.setenv("SPARK_DIST_CLASSPATH", "/opt/hadoop/*")
    names.add(module._name())
    assert len(names - {None}) == 6


def test_java_writes_none_where_a_folder_on_the_class_path_has_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    assert module._name() is not None
    (tmp_path / "conf").mkdir()
    assert module._name() is not None
    (tmp_path / "conf" / "spark-defaults.conf").write_text("")
    assert module._name() is None
    assert class_archive(may_list=True) == ClassArchive()


def test_without_java_spark_or_a_place_there_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "with a space"))
    assert class_archive(may_list=True) == ClassArchive()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert class_archive(may_list=True) == ClassArchive()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert module._name() is None


@pytest.mark.parametrize("name", ["SPARK_SUBMIT_OPTS", "JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS"])
def test_who_says_which_one_is_mapped_is_left_to_it(
    monkeypatch: pytest.MonkeyPatch, directory: Path, name: str
) -> None:
    recorded(directory, WHOLE)
    assert class_archive().options
    monkeypatch.setenv(name, "-Xss4m -XX:SharedArchiveFile=/opt/theirs.jsa")
    assert class_archive(may_list=True) == ClassArchive()


def test_those_of_older_sparks_go_and_what_is_left_of_recording(directory: Path) -> None:
    new = recorded(directory, WHOLE)
    for age in range(3):
        old = directory / f"{age}.jsa"
        old.write_bytes(WHOLE)
        os.utime(old, (1e9 - age, 1e9 - age))
    left = [directory / "old.seen", directory / "old.1.list", directory / "young.1.list"]
    for file in [*left, new.with_suffix(".recording"), new.with_suffix(".1.list")]:
        file.touch()
    for file in left[:2]:
        os.utime(file, (1e9, 1e9))
    class_archive()
    assert {one.name for one in directory.iterdir()} == {
        *("0.jsa", new.with_suffix(".jsa").name),
        left[2].name,
    }


COMPILING = """
import sys
from dbsp.sql.compiler.load import compile_program
view = f"CREATE VIEW {sys.argv[1]} AS SELECT a + 1 AS b FROM t"
print(*compile_program(f"CREATE TABLE t (a INT); {view}").views)
"""


def compile_new(log: Path) -> None:
    """A program that isn't known, so that a JVM starts."""
    options = f"-Xlog:class+load:file={log}"
    run = subprocess.run(
        [sys.executable, "-c", COMPILING, log.name],
        env={**os.environ, "SPARK_SUBMIT_OPTS": options},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (run.stdout, run.stderr) == (f"{log.name}\n", "")


def mapped_of(log: Path) -> int:
    """How many of Catalyst's classes came from an archive that isn't Java's own."""
    lines = log.read_text().splitlines()
    return sum(".catalyst." in line and "shared objects file (top)" in line for line in lines)


@pytest.mark.spark
@pytest.mark.slow
def test_a_jvm_maps_what_the_one_before_has_read(directory: Path, tmp_path: Path) -> None:
    if RECORDED:
        directory.mkdir(mode=0o700)
        shutil.copy(RECORDED[1], directory)
    else:
        compile_new(tmp_path / "before")  # the first of a machine records nothing
        compile_new(tmp_path / "first")
        started = time.monotonic()
        while not any(module._is_whole(new) for new in directory.glob("*.new")):
            assert time.monotonic() - started < 500
            time.sleep(0.2)
        assert mapped_of(tmp_path / "first") == 0
    compile_new(tmp_path / "second")
    assert mapped_of(tmp_path / "second") > 2_000


@pytest.mark.spark
@pytest.mark.slow
def test_what_evaluates_functions_maps_them(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not RECORDED:
        pytest.skip("no classes on disk (`make test` has them written first)")
    directory.mkdir(mode=0o700)
    shutil.copy(RECORDED[1], directory)
    log = tmp_path / "log"
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"-Xlog:class+load:file={log}")
    evaluator = process._started()
    try:
        for _ in range(600):
            if log.exists() and " Evaluator source: " in log.read_text():
                break
            time.sleep(0.1)
        assert log.read_text().count("shared objects file (top)") > 100
    finally:
        evaluator.end()


def test_a_jvm_of_ours_maps_it_whatever_the_launcher_is_told(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(directory, WHOLE)
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-XX:SharedArchiveFile=/opt/theirs.jsa")
    assert class_archive(is_launched=False).options
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:SharedArchiveFile=/opt/theirs.jsa")
    assert class_archive(is_launched=False) == ClassArchive()


@pytest.mark.parametrize("name", ["HADOOP_CONF_DIR", "SPARK_DIST_CLASSPATH"])
def test_one_of_what_the_launcher_adds_is_the_launchers(
    directory: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "/opt/theirs")
    recorded(directory, WHOLE)
    assert class_archive().options
    assert class_archive(is_launched=False) == ClassArchive()
