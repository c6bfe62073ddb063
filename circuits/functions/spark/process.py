"""The JVM that evaluates expressions of Spark for this process, started when it is first asked.

It is a child of its own and not Spark's: a step's workers have none, and a program that is known starts none.
It runs Evaluator.java on the jars of the Spark that is installed, and ends with its standard input or its
parent. Steps have one, and what is asked by people has another: no query can hold a step back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pyarrow as pa

from dbsp.circuits.allowance import has_allowance
from dbsp.circuits.child import INT, Child, Children, EndedError
from dbsp.circuits.errors import Error, EvaluationError
from dbsp.circuits.functions.spark.class_archive import class_archive, class_path
from dbsp.circuits.functions.spark.installed import jars, java_path

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
_KNOWN = 256  # expressions that the JVM has ready, as in Evaluator.java
_FAILED = -1


@dataclass(eq=False)
class Evaluator(Child):
    """A JVM that runs. numbers: of the expressions that it knows, counted by `counter`, the latest last."""

    numbers: OrderedDict[bytes, int] = field(default_factory=OrderedDict)
    counter: Iterator[int] = field(default_factory=count)

    def ask(self, expression: bytes, rows: pa.RecordBatch) -> pa.Array:
        """The expression's values. Raises EvaluationError, Error where the JVM ends, as `may_go_on` does."""
        with self.lock:
            if self.ended:
                raise EndedError
            try:
                return self._ask(expression, rows)
            except EvaluationError:
                raise
            except BaseException as error:
                self.end()  # an answer that nobody has read would be the next one's
                if isinstance(error, (OSError, EOFError)):
                    raise Error(
                        f"the JVM that evaluates Spark's functions has ended: {self.said()}"
                    ) from None
                raise

    def _ask(self, expression: bytes, rows: pa.RecordBatch) -> pa.Array:
        known = expression in self.numbers
        number = self.numbers[expression] if known else next(self.counter)
        written = pa.BufferOutputStream()
        written.write(INT.pack(number))
        written.write(INT.pack(0 if known else len(expression)))
        written.write(b"" if known else expression)
        with pa.ipc.new_stream(written, rows.schema) as stream:
            stream.write_batch(rows)
        self.write(memoryview(written.getvalue()))
        size = self.int()
        if size != _FAILED:
            self._keep(expression, number)
            return pa.ipc.open_stream(self.read(size)).read_next_batch().column(0)
        row = self.int()
        condition, message = (self.read(self.int()).decode() for _ in range(2))
        if row >= 0:  # else it isn't known there
            self._keep(expression, number)
        raise EvaluationError(condition or "EXPRESSION_FAILED", _plain(message, condition), max(row, 0))

    def _keep(self, expression: bytes, number: int) -> None:
        """As the JVM does: the one that was asked for the longest ago goes."""
        self.numbers[expression] = number
        self.numbers.move_to_end(expression)
        if len(self.numbers) > _KNOWN:
            self.numbers.popitem(last=False)


def _plain(message: str, condition: str) -> str:
    """Spark's message without its condition and SQL state, which stand beside it."""
    message = message.removeprefix(f"[{condition}] ")
    return message.partition(" SQLSTATE: ")[0]


def values(expression: bytes, rows: pa.RecordBatch) -> pa.Array:
    """The expression's values. Raises as `Evaluator.ask` and `evaluator` do."""
    while True:
        try:
            return evaluator().ask(expression, rows)
        except EndedError:  # another thread has found it so
            continue


_evaluators = Children[Evaluator]()


def evaluator() -> Evaluator:
    """The one for whom asks: for steps, or for queries. Raises Error where there is no Java, or no Spark."""
    return _evaluators.of(has_allowance(), _started)


def _started() -> Evaluator:
    java = java_path()
    if java is None:
        raise Error("a function that Spark evaluates needs Java here: set JAVA_HOME, or put java on the path")
    archive = class_archive(is_launched=False).options
    command = [java, "-XX:+UseSerialGC", "-XX:+IgnoreUnrecognizedVMOptions", "-Xss4m", *archive]
    command += ["-Xlog:all=off", "-Xlog:all=warning:stderr"]  # what it prints itself is no answer
    command += [f"--add-opens={name}=ALL-UNNAMED" for name in _OPENED]
    command += ["-Dio.netty.tryReflectionSetAccessible=true", "-cp"]
    command += [class_path() if archive else str(jars() / "*")]
    source = Path(__file__).with_name("Evaluator.java")
    command += ["org.codehaus.janino.SimpleCompiler", str(source), "Evaluator"]
    return Evaluator.start(command)
