"""Spark's classes as one JVM has read them, kept on disk for those that start later.

A JVM that compiles a program, or evaluates Spark's functions, spends half of its CPU time on reading and
checking some 15,000 classes. HotSpot can write them down as it ends (-XX:ArchiveClassesAtExit), and another
one maps them (-XX:SharedArchiveFile). An archive is of one Java and one class path; a JVM that finds another
at either leaves it alone.

    NAME.jsa        an archive, which is whole
    NAME.new        what a JVM of ours writes as it ends, long after its user has the answer
    NAME.recording  one is about to: several at a time would write 150 MB each

The next that looks makes NAME.new to NAME.jsa, if it is whole: a JVM writes its first bytes last. What
another user could have written is not mapped.

Source: the manual of `java`, Application Class Data Sharing.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.spark.installed import jars, java_path
from dbsp.circuits.private_directory import cache_directory, is_own, is_private

# of them the one goes that wasn't mapped for the longest time: of older Sparks and Javas
_KEPT = 2
# seconds after which one that was to be written won't come any more
_GIVEN_UP = 600
# a path that neither Spark's launcher nor Java reads as anything else
_PLAIN = re.compile(r"[\w/.+@=-]+", re.ASCII)
_ON_THE_CLASS_PATH = (
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_CLASSPATH",
    "CLASSPATH",
)
# A JVM that is told to map one and to write one does not start: whoever says which one it maps is left to it.
_OF_AN_ARCHIVE = "-XX:SharedArchiveFile="
_OPTIONS_OF_A_JVM = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
_OPTIONS_OF_THE_LAUNCHER = "SPARK_SUBMIT_OPTS"


@dataclass(frozen=True)
class ClassArchive:
    """options: of the JVM that starts. is_recorded: whether it writes one as it ends, for some seconds."""

    options: tuple[str, ...] = ()
    is_recorded: bool = False


def class_archive(may_record: bool = False, is_launched: bool = True) -> ClassArchive:
    """may_record: whether the JVM is ours, so that nobody waits for its end. is_launched: by Spark's
    launcher, which reads settings of its own; else with `class_path`.

    Nothing of this is worth an error: a JVM without an archive is a slower one.
    """
    said = (*_OPTIONS_OF_A_JVM, _OPTIONS_OF_THE_LAUNCHER) if is_launched else _OPTIONS_OF_A_JVM
    if any(_OF_AN_ARCHIVE in os.environ.get(name, "") for name in said):
        return ClassArchive()
    if not is_launched and any(os.environ.get(name) for name in _ON_THE_CLASS_PATH):
        return ClassArchive()  # `class_path` has nothing of theirs
    name, directory = _name(), cache_directory("dbsp-classes")
    if name is None or not _PLAIN.fullmatch(str(directory)):
        return ClassArchive()
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_private(directory):
            return ClassArchive()
        archive, new = directory / f"{name}.jsa", directory / f"{name}.new"
        recording = directory / f"{name}.recording"
        if _is_whole(new):
            new.replace(archive)
            recording.unlink(missing_ok=True)
            _make_room(directory)
        if _is_whole(archive):
            os.utime(archive)
            return ClassArchive((f"-XX:SharedArchiveFile={archive}",))
        if may_record and _is_ours(recording):
            return ClassArchive((f"-XX:ArchiveClassesAtExit={new}",), is_recorded=True)
    except OSError:
        pass
    return ClassArchive()


def class_path() -> str:
    """As Spark's launcher has it: a JVM with another one maps no archive. Raises Error."""
    folder = jars()
    first = sorted(folder.glob("slf4j-api-*.jar"))
    return os.pathsep.join([f"{_configured(folder)}/", *map(str, first), str(folder / "*")])


def _configured(folder: Path) -> Path:
    return Path(os.environ.get("SPARK_CONF_DIR") or folder.parent / "conf")


def _name() -> str | None:
    """Of the Java and the class path of Spark's launcher; None where no JVM can write one."""
    java = java_path()
    try:
        folder = jars()
        configured = _configured(folder)
        # Java takes folders into an archive's class path only while they are empty
        if java is None or (configured.is_dir() and any(configured.iterdir())):
            return None
        found = [os.path.realpath(java), str(configured), *_said(Path(os.path.realpath(java)), folder)]
    except (OSError, Error):
        return None
    found += [os.environ.get(name, "") for name in _ON_THE_CLASS_PATH]
    return hashlib.sha256("\n".join(found).encode(errors="surrogateescape")).hexdigest()[:32]


def _said(java: Path, folder: Path) -> Iterator[str]:
    """What changes with the Java and the jars that are installed."""
    for file in [java, *sorted(folder.iterdir())]:
        found = file.stat()
        yield f"{file} {found.st_size} {found.st_mtime_ns}"


def _is_whole(archive: Path) -> bool:
    """Raises OSError but where it isn't there."""
    try:
        with archive.open("rb") as file:
            return is_own(os.fstat(file.fileno())) and any(file.read(4))
    except FileNotFoundError:
        return False


def _is_ours(recording: Path) -> bool:
    """Whether it falls to this process to record. Raises OSError."""
    with suppress(FileNotFoundError):
        if time.time() - recording.stat().st_mtime > _GIVEN_UP:
            recording.unlink()
    try:
        recording.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _make_room(directory: Path) -> None:
    kept = sorted(directory.glob("*.jsa"), key=lambda one: one.stat().st_mtime, reverse=True)
    for one in kept[_KEPT:]:
        one.unlink(missing_ok=True)
