"""Classes are recorded where more than one JVM of ours starts, once, by a process that nobody waits for."""

from __future__ import annotations

import os
import stat
import subprocess
import threading
import time
from pathlib import Path

import pytest

from dbsp.circuits.functions.spark import class_recording as module
from dbsp.circuits.functions.spark.class_archive import class_path
from dbsp.circuits.functions.spark.class_recording import listed
from dbsp.circuits.functions.spark.installed import java_path


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "classes").mkdir()
    return tmp_path / "classes" / "name"


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where what is started in place of Java says so: its priority, its options, its input."""
    java, said = tmp_path / "bin" / "java", tmp_path / "said"
    java.parent.mkdir()
    java.write_text(f'#!/bin/sh\n(echo "$(nice) $*"; cat) > {said}\n')
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return said


def ended(base: Path, class_path: str = "a.jar:b.jar") -> None:
    """A JVM has, which has read a class."""
    one = listed(base)
    one.file.write_text("java/lang/Object id: 0\n")
    one.ended(class_path)
    assert not one.file.exists()


def finish() -> None:
    """What was started has ended."""
    for thread in threading.enumerate():
        if thread.name == "dbsp-recording":
            thread.join(300)


def names(base: Path) -> set[str]:
    return {file.name for file in base.parent.iterdir()}


def test_the_first_of_a_machine_leaves_a_mark_only(base: Path, started: Path) -> None:
    ended(base)
    assert names(base) == {"name.seen"}


def test_the_second_s_are_read_again_with_its_class_path(base: Path, started: Path) -> None:
    ended(base)
    ended(base)
    assert names(base) == {"name.seen", "name.recording"}
    finish()
    said = started.read_text()
    assert said.startswith(f"19 -XX:ArchiveClassesAtExit={base}.new ")
    assert " -cp a.jar:b.jar " in said and said.endswith(" ReadClasses\njava/lang/Object id: 0\n")


def test_one_at_a_time_records(base: Path, started: Path) -> None:
    ended(base)
    ended(base)
    finish()
    started.unlink()
    ended(base)
    finish()
    assert not started.exists()
    long_ago = time.time() - module.GIVEN_UP - 1
    os.utime(base.with_suffix(".recording"), (long_ago, long_ago))  # that one was killed
    ended(base)
    finish()
    assert started.exists()


def test_what_another_one_has_recorded_meanwhile_is_not_recorded_again(base: Path, started: Path) -> None:
    ended(base)
    base.with_suffix(".jsa").touch()
    ended(base)
    assert names(base) == {"name.seen", "name.jsa"}


def test_a_list_that_has_gone_is_not_recorded(base: Path, started: Path) -> None:
    ended(base)
    listed(base).ended("a.jar")
    assert names(base) == {"name.seen"}


def test_of_a_folder_with_files_java_records_none(base: Path, started: Path, tmp_path: Path) -> None:
    ended(base)
    ended(base, f"a.jar:{tmp_path}")
    assert names(base) == {"name.seen"}


def test_where_nothing_can_be_written_nothing_is_said(base: Path, tmp_path: Path) -> None:
    listed(tmp_path / "nowhere" / "name").ended("a.jar")


@pytest.mark.slow
def test_java_maps_what_was_read_again(base: Path, tmp_path: Path) -> None:
    read = "org/apache/spark/sql/types/StructType"
    one = listed(base)
    one.file.write_text(f"# a remark\n@lambda-proxy and/no/class\nNoSuchClass id: 1\n{read} id: 2\n")
    ended(base)
    one.ended(class_path())
    new = base.with_suffix(".new")
    finish()
    log = tmp_path / "log"
    subprocess.run(
        [
            *(
                java_path(),
                f"-XX:SharedArchiveFile={new}",
                f"-Xlog:class+load:file={log}",
                "-cp",
                class_path(),
            ),
            *("org.apache.spark.sql.types.StructType",),  # has no main, which Java looks for
        ],
        check=False,
        capture_output=True,
    )
    assert f"{read.replace('/', '.')} source: shared objects file (top)" in log.read_text()
