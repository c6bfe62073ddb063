"""One Spark session for the whole run.

Hypothesis draws the same examples in every run, so that a red run is the change's;
`--hypothesis-profile=long` draws new ones, and many more, `--hypothesis-profile=minute` few (`make quick`).
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from dbsp.circuits.functions.spark.class_archive import class_archive
from dbsp.sql.catalyst.jvm import spark as jvm
from tests.effort import MINUTE, QUICK, is_long
from tests.servers.jvm import SHORT

_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile(
    "quick", max_examples=QUICK, deadline=None, derandomize=True, suppress_health_check=_CALM
)
settings.register_profile(
    "minute", max_examples=MINUTE, deadline=None, derandomize=True, suppress_health_check=_CALM
)
settings.register_profile("long", max_examples=400, deadline=None, suppress_health_check=_CALM)
settings.load_profile("quick")

# Some ten thousand tests, and all that they import, live as long as the run does: nobody looks
# whether it has become garbage, neither meanwhile nor each time that a test has made some.
gc.disable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What `make quick` runs nothing of isn't imported either: a fifth of the files, and the heaviest."""
    if config.option.markexpr != "not spark and not slow" or collection_path.suffix != ".py":
        return None
    marks = re.search(r"^pytestmark = (.*)", collection_path.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(marks and re.search(r"\bmark\.(spark|slow)\b", marks[1])) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests take long come first: else all wait for the last of them, which one process runs."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# No power fails while tests run: that a file is synced is seen (`tests.dbsp.synced`), and not waited for.
def _unsynced(_: int) -> None:
    pass


os.fsync = _unsynced


# Of any Spark that a test starts, also in another process. What one compiler makes of all tests of a process
# is more than it has room for by itself. A JVM collects its garbage four times over before Spark is up, as
# classes fill what it has for them. Spark's are mapped if they are on disk (`tests.servers.class_archive`);
# a JVM of another class path leaves them alone.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    " ".join(
        [
            *(*SHORT, "-XX:ReservedCodeCacheSize=256m", "-XX:MetaspaceSize=256m"),
            *("-Xlog:cds=off", "-Xlog:cds+dynamic=off"),
            *class_archive().options,
        ]
    ),
)


# What is ours on Spark and what Spark itself answers is of a few rows: a plan that is compiled, or is planned
# again after each of its stages, costs two to three times what it costs interpreted. The long profile and
# what runs in a process of its own have Spark's defaults.
_SHORT = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}


@pytest.fixture(scope="session")
def running_spark(request: pytest.FixtureRequest) -> Iterator[Any]:
    # a run without Spark tests starts no JVM
    from pyspark.sql import SparkSession  # noqa: PLC0415

    from dbsp.running.spark.session import LOOPBACK, OPTIONS  # noqa: PLC0415
    from tests.servers.jars import avro, connector  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # else Spark takes the python3 of the path
    builder = SparkSession.builder.master("local[2]").appName("dbsp tests")
    for option, value in {
        **OPTIONS,
        **LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.python.daemon.module": "tests.servers.daemon",
        **({} if is_long() else _SHORT),
        "spark.jars": ",".join([*connector(), *avro()]),
    }.items():
        builder = builder.config(option, value)
    with chdir(request.config.rootpath):  # which the JVM is in from then on, and its workers
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session", autouse=True)
def compiling(request: pytest.FixtureRequest) -> Iterator[None]:
    """What would start a JVM of its own to compile in has the run's: one JVM a process, not one a program."""

    @contextmanager
    def shared() -> Iterator[Any]:
        yield request.getfixturevalue("running_spark")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jvm, "_own_session", shared)
        yield


@pytest.fixture(scope="session")
def settings_of_spark(running_spark: Any) -> dict[str, str]:
    found: dict[str, str] = running_spark.conf.getAll
    return found


@pytest.fixture(scope="module")
def spark(running_spark: Any, settings_of_spark: dict[str, str]) -> Iterator[Any]:
    """The session of the run: two cores, loopback only, UTC. What is made there goes with the file."""
    yield running_spark
    running_spark._jsparkSession.sessionState().catalog().reset()
    left = running_spark.conf.getAll
    for name in left.keys() - settings_of_spark.keys():
        running_spark.conf.unset(name)
    for name, value in settings_of_spark.items():
        if left.get(name) != value:
            running_spark.conf.set(name, value)
