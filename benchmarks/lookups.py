"""Lookups by key of a view of 100,000 rows, while steps are made: `python -m benchmarks.lookups`.

The server and its clients are two processes. Told are lookups a second, how long one takes, and the CPU time
of the server's process for each, that of its steps included.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

import click

PROGRAM = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL, price DECIMAL(10, 2));
CREATE VIEW latest AS SELECT * FROM orders;
CREATE VIEW turnover AS SELECT shop, count(*) AS n, sum(price) AS total FROM orders GROUP BY shop;
"""
HELD, CHANGED = 100_000, 100


def main(clients: int, rate: float, seconds: float) -> None:
    """clients: how many. rate: steps a second. seconds: of each protocol."""
    from dbsp.pipeline.pipeline import Pipeline  # noqa: PLC0415
    from dbsp.serving.access import Access  # noqa: PLC0415
    from dbsp.serving.app import Serving  # noqa: PLC0415
    from dbsp.serving.ports.server import listening  # noqa: PLC0415
    from dbsp.serving.ports.switching import Switching  # noqa: PLC0415
    from dbsp.serving.postgres.port import listening_postgres  # noqa: PLC0415

    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        pipeline.insert("orders", [_order(i, i) for i in range(HELD)])
        pipeline.step()
        serving = Serving(pipeline, Access("token"))
        with (
            listening(serving, "127.0.0.1", 0) as (_, http),
            listening_postgres(Switching(serving), "127.0.0.1", 0) as (_, postgres),
        ):
            number = 0
            for protocol, port in (("postgres", postgres), ("http", http)):
                arguments = [protocol, str(port), str(clients), str(seconds)]
                command = [sys.executable, "-m", "benchmarks.lookups", "--ask", *arguments]
                before = time.process_time()
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asking:
                    while asking.poll() is None:
                        number += 1
                        changed = [_order((number * 37 + i * 11) % HELD, number + i) for i in range(CHANGED)]
                        pipeline.upsert("orders", changed)
                        pipeline.step()
                        time.sleep(1 / rate)
                    assert asking.stdout is not None
                    count, said = asking.stdout.read().split(" ", 1)
                spent = 1e3 * (time.process_time() - before) / int(count)
                asked = f"{protocol}, {clients} clients, {rate:.0f} steps/s"
                print(f"{asked}: {said.strip()}, {spent:.2f} ms CPU each")


def _order(i: int, price: int) -> dict[str, object]:
    return {"id": i, "shop": f"shop {i % 50}", "price": price % 100}


async def asking_all(protocol: str, port: int, clients: int, seconds: float) -> None:
    """Each client asks again as soon as it is answered."""
    asked = {"postgres": _ask_postgres, "http": _ask_http}[protocol]
    found = await asyncio.gather(*(asked(port, client, seconds) for client in range(clients)))
    taken = sorted(each for one in found for each in one)
    p50, p99 = (1e3 * taken[int(len(taken) * share)] for share in (0.5, 0.99))
    print(f"{len(taken)} {len(taken) / seconds:,.0f} lookups/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms")


async def _ask_postgres(port: int, client: int, seconds: float) -> list[float]:
    import asyncpg  # noqa: PLC0415

    connection = await asyncpg.connect(host="127.0.0.1", port=port, user="reader", database="dbsp", ssl=False)
    lookup = await connection.prepare("SELECT id, shop, price FROM latest WHERE id = $1")
    taken, end = [], time.perf_counter() + seconds
    while (at := time.perf_counter()) < end:
        assert await lookup.fetchrow((len(taken) * 7919 + client * 131) % HELD) is not None
        taken.append(time.perf_counter() - at)
    await connection.close()
    return taken


async def _ask_http(port: int, client: int, seconds: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken, end = [], time.perf_counter() + seconds
    while (at := time.perf_counter()) < end:
        path = f"/views/latest?id={(len(taken) * 7919 + client * 131) % HELD}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        body = await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r")[0]))
        assert b"shop" in body, body
        taken.append(time.perf_counter() - at)
    writer.close()
    return taken


@click.command()
@click.option("--clients", default=8)
@click.option("--rate", default=10.0)
@click.option("--seconds", default=4.0)
@click.option("--ask", nargs=4, hidden=True)
def command(clients: int, rate: float, seconds: float, ask: tuple[str, str, str, str] | None) -> None:
    if ask is None:
        main(clients, rate, seconds)
    else:
        asyncio.run(asking_all(ask[0], int(ask[1]), int(ask[2]), float(ask[3])))


if __name__ == "__main__":
    command()
