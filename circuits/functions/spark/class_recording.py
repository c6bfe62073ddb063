"""How an archive of classes comes to be: a JVM lists what it reads, and a process beside reads it again.

HotSpot writes down the classes that a JVM has read as it ends (-XX:ArchiveClassesAtExit). But one that is to
do so interprets slowly all its life: a machine's first program took 14.6 s where it takes 10.7 without. To
list them (-XX:DumpLoadedClassList) costs nothing. So nobody waits for what records: it has the lowest
priority, and begins when a JVM of ours ends that isn't the first here. In a container that goes with its
first program nothing is recorded at all.

    NAME.seen       a JVM of ours has ended here
    NAME.KEY.list   the classes that one reads, until it has ended
    NAME.recording  a process reads them again: several at a time would write 150 MB each
    NAME.new        what it writes as it ends: see `class_archive`

Source: the manual of `java`, Application Class Data Sharing.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dbsp.circuits.functions.spark.installed import java_path

# Seconds after which an archive that was to be written won't come any more: a Java that can't write one is
# asked once a day.
GIVEN_UP = 86_400


@dataclass(frozen=True)
class Listed:
    """The classes that a JVM reads, in `file`. base: the path of its archive, without an ending."""

    base: Path
    file: Path

    @property
    def option(self) -> str:
        """Of that JVM."""
        return f"-XX:DumpLoadedClassList={self.file}"

    def ended(self, class_path: str) -> None:
        """That JVM has ended, whose system property java.class.path this was.

        What fails is left: a JVM without an archive is a slower one.
        """
        with suppress(OSError), self.file.open("rb") as classes:
            self.file.unlink()
            if not self._is_wanted(class_path) or _made(self.base.with_suffix(".seen")):
                return  # nobody wants it, or it was the first
            if self._is_ours():
                self._read_again(classes, class_path)

    def _is_wanted(self, class_path: str) -> bool:
        """Whether there is no archive by now, and Java can write one: it takes folders into an archive's
        class path only while they are empty. Raises OSError.
        """
        if self.base.with_suffix(".jsa").exists():
            return False
        return not any(map(os.listdir, filter(os.path.isdir, class_path.split(os.pathsep))))

    def _is_ours(self) -> bool:
        """Whether it falls to this process to record. Raises OSError."""
        recording = self.base.with_suffix(".recording")
        with suppress(FileNotFoundError):
            if time.time() - recording.stat().st_mtime > GIVEN_UP:
                recording.unlink()
        return _made(recording)

    def _read_again(self, classes: IO[bytes], class_path: str) -> None:
        """In a JVM that writes them as it ends. Raises OSError."""
        java, nice = java_path(), shutil.which("nice")
        if java is None:
            return
        command = [nice, "-n", "19"] if nice else []
        command += [java, f"-XX:ArchiveClassesAtExit={self.base.with_suffix('.new')}", "-XX:+UseSerialGC"]
        command += ["-XX:TieredStopAtLevel=1", "-cp", class_path, "org.codehaus.janino.SimpleCompiler"]
        source, nowhere = Path(__file__).with_name("ReadClasses.java"), subprocess.DEVNULL
        command += [str(source), source.stem]
        process = subprocess.Popen(
            command, stdin=classes, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
        # it outlives this process, or is no zombie of it
        threading.Thread(target=process.wait, name="dbsp-recording", daemon=True).start()


def listed(base: Path) -> Listed:
    """For a JVM that starts."""
    return Listed(base, base.with_suffix(f".{secrets.token_hex(4)}.list"))


def _made(file: Path) -> bool:
    """Whether it wasn't there, and is now. Raises OSError."""
    try:
        file.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
