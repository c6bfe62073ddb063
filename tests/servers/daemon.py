"""What Spark's Python workers of the run are forked from: a process that has imported what they import.

PySpark's own leaves that to each worker: a second of CPU, and twice that where PySpark comes out of the
archive that Spark puts before the installed one, since from there it is compiled each time. After each task a
worker collects its garbage, too, of which what was imported is no part here.

`spark.python.daemon.module` names it, and Spark runs it by `python -m`. PySpark's waits with its imports for
fear of threads that a fork loses: of these only Arrow's allocator has one, and starts it again in each child.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

# what runs tasks, what Arrow looks for, and what reads messages
IMPORTED = (
    *("pyspark.worker", "pandas", "confluent_kafka"),
    *("dbsp.running.spark.tasks", "dbsp.pipeline.spark.direct.reading"),
)


def prepare() -> None:
    sys.path[:] = [path for path in sys.path if not path.endswith(("pyspark.zip", "-src.zip"))]
    for name in IMPORTED:
        import_module(name)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    prepare()
    from pyspark.daemon import manager

    manager()
