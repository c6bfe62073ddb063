"""The JVM that evaluates expressions of Spark for this process: one, started when it is first asked.

It is a child of its own and not Spark's: a step's workers have none, and a program that is known starts none.
It runs Evaluator.java on the jars of the Spark that is installed here, and ends with its standard input.
"""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import struct
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import IO

import pyarrow as pa

from dbsp.circuits.errors import Error, EvaluationError

# what Arrow and Spark reach into (org.apache.spark.launcher.JavaModuleOptions)
_OPENED = (
    *(
        "java.base/java.lang",
        "java.base/java.lang.invoke",
        "java.base/java.lang.reflect",
        "java.base/java.io",
    ),
    *("java.base/java.net", "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent"),
    *("java.base/sun.nio.ch", "java.base/sun.nio.cs", "java.base/sun.util.calendar"),
)
_FAILED = -1
_INT = struct.Struct(">i")


@dataclass
class Evaluator:
    """A JVM that runs. numbers: of the expressions that it knows, counted by `counter`."""

    process: subprocess.Popen[bytes]
    log: IO[bytes]
    numbers: dict[bytes, int] = field(default_factory=dict)
    counter: Iterator[int] = field(default_factory=count)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, expression: bytes, rows: pa.RecordBatch) -> pa.Array:
        """The expression's values. Raises EvaluationError, and Error where the JVM has ended."""
        with self.lock:
            try:
                return self._ask(expression, rows)
            except EvaluationError:
                raise
            except BaseException as error:
                self.end()  # an answer that nobody has read would be the next one's
                if isinstance(error, (OSError, EOFError)):
                    raise Error(
                        f"the JVM that evaluates Spark's functions has ended: {self._said()}"
                    ) from None
                raise

    def end(self) -> None:
        """Let the next that asks start another."""
        _running.cache_clear()
        self.process.kill()
        self.process.wait()

    def _ask(self, expression: bytes, rows: pa.RecordBatch) -> pa.Array:
        to = self.process.stdin
        assert to is not None
        known = expression in self.numbers
        number = self.numbers[expression] if known else next(self.counter)
        to.write(_INT.pack(number))
        to.write(_INT.pack(0 if known else len(expression)))
        to.write(b"" if known else expression)
        with pa.ipc.new_stream(to, rows.schema) as stream:
            stream.write_batch(rows)
        to.flush()
        size = self._int()
        if size != _FAILED:
            self.numbers[expression] = number
            return pa.ipc.open_stream(self._read(size)).read_next_batch().column(0)
        row = self._int()
        condition, message = (self._read(self._int()).decode() for _ in range(2))
        if row >= 0:  # else it isn't known there
            self.numbers[expression] = number
        raise EvaluationError(condition or "EXPRESSION_FAILED", _plain(message, condition), max(row, 0))

    def _int(self) -> int:
        return int(_INT.unpack(self._read(_INT.size))[0])

    def _read(self, size: int) -> bytes:
        answers = self.process.stdout
        assert answers is not None
        read = answers.read(size)
        if len(read) < size:
            raise EOFError
        return read

    def _said(self) -> str:
        """The last that it has said, as a reason."""
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").splitlines()
        thrown = [line for line in lines if "Error" in line or "Exception" in line]
        return (thrown or [f"it was killed, status {self.process.poll()}"])[-1].strip()


def _plain(message: str, condition: str) -> str:
    """Spark's message without its condition and SQL state, which stand beside it."""
    message = message.removeprefix(f"[{condition}] ")
    return message.partition(" SQLSTATE: ")[0]


def evaluator() -> Evaluator:
    """This process's. Raises Error where there is no Java, or no Spark."""
    with _STARTING:
        return _running(os.getpid())  # a fork has none of its own


_STARTING = threading.Lock()


@cache
def _running(process: int) -> Evaluator:
    log = tempfile.TemporaryFile()  # noqa: SIM115  as long as the process
    command = [_java(), "-XX:+UseSerialGC", "-XX:+IgnoreUnrecognizedVMOptions", "-Xss4m"]
    command += [f"--add-opens={name}=ALL-UNNAMED" for name in _OPENED]
    command += ["-Dio.netty.tryReflectionSetAccessible=true", "-cp", str(jars() / "*")]
    source = Path(__file__).with_name("Evaluator.java")
    command += ["org.codehaus.janino.SimpleCompiler", str(source), "Evaluator"]
    started = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
    )
    made = Evaluator(started, log)
    atexit.register(made.end)
    return made


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    java = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if java is None or not os.access(java, os.X_OK):
        raise Error("a function that Spark evaluates needs Java here: set JAVA_HOME, or put java on the path")
    return java


def jars() -> Path:
    """The folder of Spark's jars: of $SPARK_HOME, else of the package. Raises Error."""
    home = os.environ.get("SPARK_HOME")
    package = importlib.util.find_spec("pyspark")
    places = [Path(home)] if home else []
    places += [Path(place) for place in (package.submodule_search_locations or [])] if package else []
    for place in places:
        if (place / "jars").is_dir():
            return place / "jars"
    raise Error("a function that Spark evaluates needs Spark's jars here: set SPARK_HOME")
