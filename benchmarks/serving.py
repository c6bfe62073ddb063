"""What serving costs a step: `python -m benchmarks.serving --kind page --clients 50`.

The server and its clients are two processes. Rounds with clients and without alternate; of each are told the
CPU-seconds of the server's process a step, and the median step. A page is two streams, of steps and of a
view's changes; a follower has the second alone. Of kind 'nobody' it is told what the server does after a step
that no client asks for, beside the CPU-seconds of the step itself.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

import click

PROGRAM = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING NOT NULL, price DECIMAL(10, 2));
CREATE VIEW turnover AS SELECT shop, count(*) AS n, sum(price) AS total FROM orders GROUP BY shop;
CREATE VIEW latest AS SELECT * FROM orders;
CREATE VIEW dear AS
SELECT o.id, o.price, t.total FROM orders o JOIN turnover t ON o.shop = t.shop WHERE o.price > 95;
"""
ROWS, SHOPS = 100, 50


@dataclass
class Round:
    """cpu: seconds of the process a step. p50: of a step. seconds: that it took."""

    steps: int
    cpu: float
    p50: float
    seconds: float

    def __str__(self) -> str:
        return f"{self.steps} steps, {1e3 * self.cpu:.2f} ms CPU a step, p50 {1e3 * self.p50:.2f} ms"


def main(clients: int, kind: str, rate: float, seconds: float, pairs: int) -> None:  # noqa: PLR0915
    """kind: 'page', 'follower' or 'nobody'. rate: steps a second, 0 for as many as can be."""
    from dbsp.pipeline.pipeline import Pipeline  # noqa: PLC0415
    from dbsp.serving.access import Access  # noqa: PLC0415
    from dbsp.serving.app import Serving  # noqa: PLC0415
    from dbsp.serving.ports.server import listening  # noqa: PLC0415

    with Pipeline(sql=PROGRAM, runner="inline") as pipeline:
        serving = Serving(pipeline, Access("token"))
        with listening(serving, "127.0.0.1", 0) as (_, port):
            number = 0
            shares: list[tuple[float, float]] = []

            def round_() -> Round:
                nonlocal number
                taken, began, before = [], time.monotonic(), time.process_time()
                while time.monotonic() - began < seconds:
                    rows = [
                        {
                            "id": (number * 37 + i * 11) % 20_000,
                            "shop": f"shop {i % SHOPS}",
                            "price": (number + i) % 100,
                        }
                        for i in range(ROWS)
                    ]
                    number += 1
                    at = time.perf_counter()
                    pipeline.upsert("orders", rows)
                    begun = time.process_time()
                    changes = pipeline.step()
                    made = time.process_time()
                    serving.made(changes)
                    shares.append((made - begun, time.process_time() - made))
                    taken.append(time.perf_counter() - at)
                    if rate:
                        time.sleep(max(0.0, 1 / rate - taken[-1]))
                spent = time.process_time() - before
                return Round(
                    len(taken), spent / len(taken), statistics.median(taken), time.monotonic() - began
                )

            round_()
            found: list[tuple[Round, Round]] = []
            for _ in range(pairs):
                without = round_()
                if kind == "nobody":
                    print(_share(shares))
                    continue
                command = [sys.executable, "-m", "benchmarks.serving_clients", str(port), str(clients), kind]
                with subprocess.Popen(
                    command, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
                ) as watching:
                    assert watching.stdout is not None and watching.stdin is not None
                    watching.stdout.readline()
                    time.sleep(0.5)
                    served = round_()
                    watching.stdin.write("end\n")
                    watching.stdin.flush()
                    print(watching.stdout.readline().strip())
                time.sleep(0.5)
                found.append((without, served))
                print(f"  without: {without}; with: {served}; load {os.getloadavg()[0]:.1f}", flush=True)
            if not found:
                return
            cpu = statistics.median(b.cpu / a.cpu for a, b in found)
            p50 = statistics.median(b.p50 / a.p50 for a, b in found)
            share = statistics.median((b.cpu - a.cpu) * b.steps / b.seconds for a, b in found)
            print(f"{clients} {kind}s, {rate or 'all'} steps/s: CPU a step {cpu:.2f}x, p50 {p50:.2f}x")
            print(f"serving them takes {100 * share:.1f} % of a core")


def _share(taken: list[tuple[float, float]]) -> str:
    of_steps, of_telling = (sum(one) for one in zip(*taken, strict=True))
    cpu = 1e3 * of_steps / len(taken)
    return f"{cpu:.2f} ms CPU a step, and {of_telling / of_steps:.1%} of that to serve it"


@click.command()
@click.option("--clients", default=50)
@click.option("--kind", default="page")
@click.option("--rate", default=0.0)
@click.option("--seconds", default=4.0)
@click.option("--pairs", default=3)
def command(**options: object) -> None:
    main(**options)  # type: ignore[arg-type]


if __name__ == "__main__":
    command()
