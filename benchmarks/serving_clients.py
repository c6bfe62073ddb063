"""Clients of a server for `benchmarks.serving`: they read what comes, and know only where events end."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter

_STREAMS = {
    "page": ["/steps", "/views/turnover/changes"],
    "follower": ["/views/turnover/changes"],
}


async def follow(port: int, path: str, got: Counter[str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode())
    while data := await reader.read(1 << 20):
        got["reads"] += 1
        got["steps"] += data.count(b"\nid: ") + data.count(b"event: step")


async def main(port: int, clients: int, kind: str) -> None:
    got: Counter[str] = Counter()
    tasks = [asyncio.create_task(follow(port, path, got)) for path in _STREAMS[kind] for _ in range(clients)]
    await asyncio.sleep(1)
    print("begun", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    print(dict(got), flush=True)
    for task in tasks:
        task.cancel()


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
