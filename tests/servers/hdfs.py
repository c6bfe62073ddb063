"""An HDFS of a test's own: a name node and a data node on loopback, in a directory that goes with them."""

from __future__ import annotations

import getpass
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tests.servers.jars import HDFS, java
from tests.servers.jvm import SHORT
from tests.servers.missing import missing
from tests.servers.ports import free_port

USER = "tests"
_CLASSES = "org.apache.hadoop.hdfs.server"
_NAME, _DATA = f"{_CLASSES}.namenode.NameNode", f"{_CLASSES}.datanode.DataNode"


@dataclass
class Server:
    """port: of the name node's HTTP."""

    root: Path
    port: int
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """And wait until there is a data node."""
        (self.root / "conf").mkdir()
        rpc, *ports = [free_port() for _ in range(4)]
        settings = {
            "fs.defaultFS": f"hdfs://127.0.0.1:{rpc}",
            "dfs.namenode.name.dir": self.root / "name",
            "dfs.datanode.data.dir": self.root / "data",
            "dfs.namenode.http-address": f"127.0.0.1:{self.port}",
            "dfs.datanode.http.address": f"127.0.0.1:{ports[0]}",
            "dfs.datanode.address": f"127.0.0.1:{ports[1]}",
            "dfs.datanode.ipc.address": f"127.0.0.1:{ports[2]}",
            "dfs.datanode.hostname": "127.0.0.1",
            "dfs.replication": 1,
            # whoever starts it is its superuser, and this user is another
            "dfs.permissions.superusergroup": "nobody-is-in-it",
            # else a small file takes 0.4 s: the name node is asked before the data node has told it
            "dfs.client.block.write.locateFollowingBlock.initial.delay.ms": 5,
        }
        written = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>"
            for name, value in settings.items()
        )
        for file in ("core-site.xml", "hdfs-site.xml"):
            (self.root / "conf" / file).write_text(f"<configuration>{written}</configuration>")
        subprocess.run(
            self._command(_NAME, "-format", "-nonInteractive"),
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for program in (_NAME, _DATA):
            self.processes.append(
                subprocess.Popen(self._command(program), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            )
        deadline = time.monotonic() + 180
        while not self._has_a_data_node():
            assert time.monotonic() < deadline
            assert all(process.poll() is None for process in self.processes)
            time.sleep(0.1)
        self._open_to_all()

    def _command(self, program: str, *arguments: str) -> list[str]:
        return [java(), "-Xmx256m", *SHORT, "-cp", f"{self.root / 'conf'}:{HDFS}/*", program, *arguments]

    def _has_a_data_node(self) -> bool:
        with suppress(OSError):
            beans = f"{self.address}/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState"
            with urllib.request.urlopen(beans, timeout=5) as answer:
                return b'"NumLiveDataNodes" : 1' in answer.read()
        return False

    def _open_to_all(self) -> None:
        asked = f"{self.address}/webhdfs/v1/?op=SETPERMISSION&permission=777&user.name={getpass.getuser()}"
        with urllib.request.urlopen(urllib.request.Request(asked, method="PUT"), timeout=60):
            pass

    def kill(self) -> None:
        """SIGKILL."""
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def hdfs() -> Iterator[Server]:
    """A new one, which is running. Skips where there is none, unless it must be there."""
    if not list(HDFS.glob("hadoop-client-minicluster-*.jar")) or find_spec("hdfs") is None:
        missing("HDFS (hadoop-client-minicluster) or client (hdfs)")
    root = Path(tempfile.mkdtemp(prefix="dbsp-hdfs-"))
    server = Server(root, free_port())
    try:
        server.start()
        yield server
    finally:
        server.kill()
        shutil.rmtree(root, ignore_errors=True)
