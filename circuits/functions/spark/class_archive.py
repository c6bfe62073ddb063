"""Spark's classes as one JVM has read them, kept on disk for those that start later.

A JVM that compiles a program, or evaluates Spark's functions, spends half of its CPU time on reading and
checking some 15,000 classes. HotSpot can write them down (see `class_recording`), and another one maps them
(-XX:SharedArchiveFile). An archive is of one Java and one class path; a JVM that finds another at either
leaves it alone.

    NAME.jsa        an archive, which is whole
    NAME.new        one that is being written

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
from dataclasses import dataclass
from pathlib import Path

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.spark.class_recording import GIVEN_UP, Listed, listed
from dbsp.circuits.functions.spark.installed import jars, java_path
from dbsp.circuits.private_directory import cache_directory, is_own, is_private

# of them the one goes that wasn't mapped for the longest time: of older Sparks and Javas
_KEPT = 2
# a path that neither Spark's launcher nor Java reads as anything else
_PLAIN = re.compile(r"[\w/.+@=-]+", re.ASCII)
_ON_THE_CLASS_PATH = (
    "HADOOP_CONF_DIR",
    "YARN_CONF_DIR",
    "SPARK_DIST_CLASSPATH",
    "SPARK_CLASSPATH",
    "CLASSPATH",
)
# whoever says which one a JVM maps is left to it
_OF_AN_ARCHIVE = "-XX:SharedArchiveFile="
_OPTIONS_OF_A_JVM = ("JDK_JAVA_OPTIONS", "JAVA_TOOL_OPTIONS")
_OPTIONS_OF_THE_LAUNCHER = "SPARK_SUBMIT_OPTS"


@dataclass(frozen=True)
class ClassArchive:
    """options: of the JVM that starts. listed: what it lists, to be told when it has ended."""

    options: tuple[str, ...] = ()
    listed: Listed | None = None


def class_archive(may_list: bool = False, is_launched: bool = True) -> ClassArchive:
    """may_list: whether who starts the JVM also sees it end. is_launched: by Spark's launcher, which reads
    settings of its own; else with `class_path`.

    Nothing of this is worth an error: a JVM without an archive is a slower one.
    """
    said = (*_OPTIONS_OF_A_JVM, _OPTIONS_OF_THE_LAUNCHER) if is_launched else _OPTIONS_OF_A_JVM
    if any(_OF_AN_ARCHIVE in os.environ.get(name, "") for name in said):
        return ClassArchive()
    if not is_launched and any(os.environ.get(name) for name in _ON_THE_CLASS_PATH):
        return ClassArchive()  # `class_path` has nothing of theirs
    try:
        base = archive_base()
        if base is None:
            return ClassArchive()
        archive, new = base.with_suffix(".jsa"), base.with_suffix(".new")
        if _is_whole(new):
            new.replace(archive)
            _make_room(base)
        if _is_whole(archive):
            os.utime(archive)
            return ClassArchive((f"{_OF_AN_ARCHIVE}{archive}",))
        if may_list:
            made = listed(base)
            return ClassArchive((made.option,), made)
    except OSError:
        pass
    return ClassArchive()


def archive_base() -> Path | None:
    """The path of the archive without its ending; None where there can't be one. Raises OSError."""
    name, directory = _name(), cache_directory("dbsp-classes")
    if name is None or not _PLAIN.fullmatch(str(directory)):
        return None
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory / name if is_private(directory) else None


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


def _make_room(base: Path) -> None:
    """For an archive that has just become whole."""
    found = [*base.parent.iterdir()]
    archives = sorted((one for one in found if one.suffix == ".jsa"), key=_age)
    left = [
        one
        for one in found
        if one.suffix != ".jsa" and (one.stem.startswith(base.name) or _age(one) > GIVEN_UP)
    ]
    for one in archives[_KEPT:] + left:
        one.unlink(missing_ok=True)


def _age(file: Path) -> float:
    return time.time() - file.stat().st_mtime
