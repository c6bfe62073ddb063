"""Between a server of a test's own and its clients: what may happen to a message."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol


class Listening(Protocol):
    port: int


@dataclass
class Proxy:
    """Before a server: at the nth message of the clients something happens, and the connections end.

    answered: the message reaches the server, which has `pause` seconds to do what it says; its answer reaches
    nobody. counts: of which messages it is the nth.
    """

    server: Listening
    n: int
    answered: bool
    fault: Callable[[], None] = lambda: None
    counts: Callable[[bytes], bool] = lambda message: True
    pause: float = 0.05
    seen: list[bytes] = field(default_factory=list)
    fired: bool = False

    def __post_init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(("127.0.0.1", self.server.port))
                except OSError:
                    client.close()
                    continue
                ended = threading.Event()
                for way in (self._upstream, self._downstream):
                    threading.Thread(target=way, args=(client, server, ended), daemon=True).start()

    def _upstream(self, client: socket.socket, server: socket.socket, ended: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                is_counted = self.counts(data)
                if is_counted:
                    self.seen.append(data)
                if is_counted and len(self.seen) == self.n + 1:
                    self.fired = True
                    ended.set()
                    if self.answered:
                        server.sendall(data)
                        time.sleep(self.pause)
                    self.fault()
                    break
                server.sendall(data)
        _end(client, server)

    def _downstream(self, client: socket.socket, server: socket.socket, ended: threading.Event) -> None:
        with suppress(OSError):
            while data := server.recv(1 << 16):
                if not ended.is_set():
                    client.sendall(data)
        _end(client, server)

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # else its thread waits for clients for ever
        self._listener.close()


def _end(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()
