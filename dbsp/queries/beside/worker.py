"""Of a process beside a server its own side: it does what it is asked, as `process.py` says."""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import threading
import time
import traceback
from typing import IO

from py4j.protocol import Py4JError
from pyspark import SparkContext

from dbsp.circuits.errors import Error, TooMuch
from dbsp.queries.beside.process import EVALUATOR, LONG, Bug
from dbsp.running.spark.messages import SparkFailure, foreseen
from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings

# it starts and compiles in half the CPU time this way
_SHORT = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
# seconds without a question after which one ends that few queries need; between two looks at the parent
_QUIET, _LOOK = 300.0, 1.0


def serve(asked: IO[bytes], answers: IO[bytes], megabytes: int, quiet: float | None) -> None:
    """Until nothing is asked any more, or not for so many seconds, or the JVM has no memory left.

    megabytes: of the JVM's heap, and of an answer.
    """
    memory = {"spark.driver.memory": f"{megabytes}m", "spark.driver.maxResultSize": f"{megabytes}m"}
    settings = Settings(conf={**memory, **_SHORT})
    too_much = TooMuch(f"Spark needs more than {megabytes:,} MB for this, and may take no more; ask for less")
    alive, spark = True, None
    while alive and select.select([asked], [], [], quiet)[0]:
        size = asked.read(LONG.size)
        if not size:
            return
        given = asked.read(LONG.unpack(size)[0])
        try:
            function, arguments = pickle.loads(given)
            spark = spark or session("dbsp queries", settings=settings)
            said = pickle.dumps((function(spark, *arguments), None, True), 5)
        except (Error, *SparkFailure, Py4JError, ConnectionError) as error:
            alive = _is_alive() and "OutOfMemoryError" not in str(error)
            said = pickle.dumps((None, (foreseen(error) or error) if alive else too_much, alive), 5)
        except MemoryError:  # there may be too little for an answer, too
            raise
        except Exception as error:  # whatever it is, who asked is told, and others go on
            alive = _is_alive()
            said = pickle.dumps((None, _bug(error), alive), 5)
        answers.write(LONG.pack(len(said)))
        answers.write(said)
        answers.flush()


def _bug(error: Exception) -> Bug:
    """Of text alone: what was raised needn't be what a pickle holds."""
    bug = Bug(f"a bug of dbsp, or of a library: {type(error).__name__}: {error}")
    bug.add_note("".join(traceback.format_exception(error)))
    return bug


def _is_alive() -> bool:
    """Whether the JVM is, and the context, where there is one: Spark ends it where memory was missing."""
    context = SparkContext._active_spark_context
    try:
        return context is None or not context._jsc.sc().isStopped()
    except (Py4JError, ConnectionError):
        return False


def _end_with(parent: int) -> None:
    """While something is done nobody reads the standard input."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # whatever else is printed is no answer
        kind, megabytes = sys.argv[1:]
        serve(sys.stdin.buffer, out, int(megabytes), _QUIET if kind == EVALUATOR else None)
