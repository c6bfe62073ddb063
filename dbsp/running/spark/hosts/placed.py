"""Tasks that prefer hosts: those whose executors have copies of the segments that a task reads.

Placed.java is the RDD that says so. A driver that runs its tasks itself, `local[n]`, has one host, and asks
for nothing.
"""

from __future__ import annotations

import atexit
import re
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from dbsp.running.spark.hosts.homes import homes
from dbsp.sql.catalyst.jvm.classes import loaded

if TYPE_CHECKING:
    from pyspark import RDD, SparkContext

_SOURCE = Path(__file__).with_name("Placed.java")
_ONE_HOST = re.compile(r"local(\[.*\])?")
# one that has just come has no port yet, and no task
_EXECUTOR = re.compile(r"(.+):\d+ (\d+)")


class Hosts:
    """Of a cluster's executors, as they come and go."""

    def __init__(self, context: SparkContext) -> None:
        self._context = context
        self._there: Any = None if _ONE_HOST.fullmatch(context.master) else _hosts(context)
        self._homes: dict[int, tuple[str, ...]] = {}
        self._executors = ""

    def homes(self, shards: int) -> tuple[str, ...]:
        """The host that each shard is at home on; () where all are one."""
        if self._there is None:
            return ()
        executors = str(self._there.executors())
        if executors != self._executors:
            self._executors, self._homes = executors, {}
        if shards not in self._homes:
            cores = _cores(executors)
            self._homes[shards] = homes(shards, cores) if cores else ()
        return self._homes[shards]

    def placed(self, records: RDD[Any], where: tuple[str, ...]) -> RDD[Any]:
        """The records, in tasks that prefer these hosts, one a partition; () leaves them to Spark."""
        from pyspark import RDD  # noqa: PLC0415

        if not where:
            return records
        there = self._there.placed(records._jrdd, " ".join(where))
        return RDD(there, self._context, records._jrdd_deserializer)


def _cores(executors: str) -> dict[str, int]:
    """Of each host. executors: a line each, of its address and its cores."""
    found: Counter[str] = Counter()
    for known in map(_EXECUTOR.fullmatch, executors.splitlines()):
        if known is not None:
            found[known[1]] += max(1, int(known[2]))
    return dict(found)


@cache
def _hosts(context: SparkContext) -> Any:
    """Placed.java's Hosts, in the driver and in its executors."""
    gateway: Any = context._gateway
    place = Path(mkdtemp(prefix="dbsp-"), "placed.jar")  # which executors that come later fetch, too
    atexit.register(shutil.rmtree, place.parent, ignore_errors=True)
    made, loader = loaded(gateway, _SOURCE)
    place.write_bytes(made)
    context._jsc.addJar(str(place))
    constructor = loader.loadClass("dbsp.Placed$Hosts").getConstructors()[0]
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    arguments[0] = context._jsc.sc()
    return constructor.newInstance(arguments)
