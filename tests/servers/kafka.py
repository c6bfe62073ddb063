"""A Kafka of a test's own: one broker in KRaft mode, on loopback, in a directory that goes with it."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from dbsp.circuits.errors import Error
from tests.servers.jars import BROKER, connector, java
from tests.servers.jvm import SHORT
from tests.servers.missing import missing
from tests.servers.ports import free_port

Found = TypeVar("Found")

# seconds, after a broker is back, in which what is asked of it may fail
_BACK = 120
# one that was killed is known again when its session is over; one that is only slow must not lose it
_SETTINGS = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{told}
controller.listener.names=CONTROLLER
log.dirs={root}/data
num.partitions=2
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
transaction.abort.timed.out.transaction.cleanup.interval.ms=200
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=200
"""
_CLUSTER = "AAAAAAAAAAAAAAAAAAAAAQ"


@dataclass
class Broker:
    """Topics that a program writes are made when they are first written, of two partitions."""

    root: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def make(self, controller: int, told: int) -> None:
        """told: the port that clients are given."""
        settings = _SETTINGS.format(broker=self.port, told=told, controller=controller, root=self.root)
        (self.root / "server.properties").write_text(settings)
        made = self._run("kafka.tools.StorageTool", "format", "-t", _CLUSTER, "-c", "server.properties")
        assert made.wait() == 0, self.log()

    def start(self) -> None:
        """And wait until it leads the partitions that it has: what died begins by looking at them."""
        self.process = self._run("kafka.Kafka", "server.properties")
        self._wait()

    def have(self, topic: str) -> None:
        """The topic is there, and each of its partitions led: what is sent next waits for nothing."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        with suppress(KafkaException):  # it is there
            admin.create_topics([NewTopic(topic)])[topic].result()
        self._wait(topic)

    def _wait(self, *topics: str) -> None:
        deadline = time.monotonic() + 180
        while not self._leads(*topics):
            died = self.process is None or self.process.poll() is not None
            assert not died and time.monotonic() < deadline, self.log()
            time.sleep(0.05)

    def _leads(self, *topics: str) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            settings = {"bootstrap.servers": self.servers, "log_level": 0}
            with suppress(KafkaException):
                found = AdminClient(settings).list_topics(timeout=1).topics
                led = (part.leader >= 0 for topic in found.values() for part in topic.partitions.values())
                return found.keys() >= set(topics) and all(led)
        return False

    def empty(self) -> None:
        """No topic is left but its own."""
        admin = AdminClient({"bootstrap.servers": self.servers})
        deadline = time.monotonic() + 180
        while names := [name for name in admin.list_topics(timeout=30).topics if not name.startswith("__")]:
            assert time.monotonic() < deadline, names
            for deleted in admin.delete_topics(names).values():
                with suppress(KafkaException):  # it is on its way, and still in the list
                    deleted.result()

    def kill(self) -> None:
        """SIGKILL."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def log(self) -> str:
        return (self.root / "log").read_text()[-2000:]

    def _run(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self.root / "log").open("ab") as log:
            return subprocess.Popen(
                [java(), "-Xmx256m", *SHORT, "-cp", f"{BROKER}/*", *arguments],
                cwd=self.root,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )


@contextmanager
def kafka(before: Callable[[Broker], int] | None = None) -> Iterator[Broker]:
    """A new one, which is running. Skips where its jars or the connector's aren't there.

    before: gives the port of what stands between it and its clients.
    """
    if not BROKER.exists() or not connector():
        missing("Kafka")
    root = Path(tempfile.mkdtemp(prefix="dbsp-kafka-"))
    broker = Broker(root, free_port())
    try:
        broker.make(free_port(), before(broker) if before is not None else broker.port)
        broker.start()
        yield broker
    finally:
        broker.kill()
        shutil.rmtree(root, ignore_errors=True)


def messages(spark: Any, broker: Broker, topic: str) -> dict[bytes, list[tuple[bytes | None, Any]]]:
    """Of each key all values and headers, in the order of a partition, as Spark's connector reads them.

    Of what was written in transactions, that which is committed.
    """
    options = {"kafka.bootstrap.servers": broker.servers, "subscribe": topic, "includeHeaders": "true"}
    options["kafka.isolation.level"] = "read_committed"
    found: dict[bytes, list[tuple[bytes | None, Any]]] = {}
    for row in sorted(spark.read.format("kafka").options(**options).load().collect(), key=_place):
        headers = {name: bytes(value) for name, value in row.headers or []}
        value = None if row.value is None else bytes(row.value)
        found.setdefault(bytes(row.key or b""), []).append((value, headers))
    return found


def _place(row: Any) -> tuple[int, int]:
    return row.partition, row.offset


def send(spark: Any, broker: Broker, topic: str, sent: list[tuple[str | None, str | None]]) -> None:
    """Keys and values, in this order of each key: by one task."""
    broker.have(topic)
    frame = spark.createDataFrame(sent, "key STRING, value STRING").coalesce(1)
    options = {"kafka.bootstrap.servers": broker.servers, "topic": topic}
    frame.write.format("kafka").options(**options).save()


def patiently(attempt: Callable[[], Found], failing: type[Error] = Error) -> Found:
    """What the attempt finds in the end; raises what it fails of by then.

    A broker that has just come back may not know yet what was under way, and a busy one is late for a hasty
    client.
    """
    deadline = time.monotonic() + _BACK
    while time.monotonic() < deadline:
        with suppress(failing):
            return attempt()
    return attempt()
