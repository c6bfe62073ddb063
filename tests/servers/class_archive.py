"""`python -m tests.servers.class_archive`: Spark's classes are on disk before the first test starts a JVM.

Each JVM that finds them there takes half the CPU to its first query. Where nobody has asked for them they are
there only for JVMs that start some time after two of ours have ended.
"""

from __future__ import annotations

import sys
import time

from dbsp.circuits.functions.spark.class_archive import archive_base, class_archive
from dbsp.sql.compiler.load import compile_program

_SECONDS = 120  # more than a JVM takes to write them on a busy machine


def main() -> None:
    """Returns without them where they can't be had: tests are then slower."""
    if class_archive().options or archive_base() is None:
        return
    for _ in range(2):  # after the second they are recorded
        # whose text nobody has compiled: a known program starts no JVM
        compile_program(f"CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a + {time.time_ns()} AS b FROM t")
    deadline = time.monotonic() + _SECONDS
    while not class_archive().options:
        if time.monotonic() > deadline:
            print("no classes of Spark on disk: each JVM of a test reads them", file=sys.stderr)
            return
        time.sleep(0.2)


if __name__ == "__main__":
    main()
