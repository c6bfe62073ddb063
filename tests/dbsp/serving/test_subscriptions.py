"""Who follows a view has it: from any step on, through breaks, in both forms."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest

from tests.dbsp.serving.served import Client, served


def events(answer: httpx.Response) -> Iterator[tuple[int | None, str, dict[str, object]]]:
    """(id, kind, data) of each."""
    step, kind, data = None, "", ""
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if name == "id":
            step = int(value)
        elif name == "event":
            kind = value
        elif name == "data":
            data = value
        elif not line and (data or step is not None):
            yield step, kind, json.loads(data or "{}")
            step, kind, data = None, "", ""


@pytest.mark.slow
def test_what_is_followed_adds_up_through_broken_connections() -> None:
    rng, breaks = random.Random(5), random.Random(6)
    with served() as (client, _):

        def write() -> None:
            for _ in range(40):
                rows = [
                    {"id": rng.randrange(9), "shop": f"s{rng.randrange(3)}", "__op": "U"} for _ in range(3)
                ]
                rows.append({"id": rows[0]["id"], "__op": "D"})
                client.posted("orders", rows)

        writer = threading.Thread(target=write)
        writer.start()
        held: Counter[tuple[object, ...]] = Counter()
        last, broken = 0, 0
        while last < 40:
            headers = {"Last-Event-ID": str(last)} if last else {}
            path = "/views/turnover/changes?since=0"
            with client.stream("GET", path, headers=headers) as answer:
                assert answer.status_code == 200
                for step, _, data in events(answer):
                    for row in data.get("rows", []):  # type: ignore[attr-defined]
                        held[row["shop"], row["n"], row["total"]] += row["__weight"]
                    if step is not None:
                        last = step
                    if last == 40 or breaks.random() < 0.2:
                        break
            broken += 1
        writer.join()
        assert broken > 2
        expected = [(row["shop"], row["n"], row["total"]) for row in client.rows("/views/turnover")]
        assert +held == Counter(expected) and min(held.values()) >= 0


def test_a_step_of_many_rows_is_several_events() -> None:
    with served() as (client, _):
        client.posted("visits", [{"shop": str(n)} for n in range(12_000)])
        seen = 0
        with client.stream("GET", "/views/visitors/changes?since=0") as answer:
            for step, kind, data in events(answer):
                assert kind == "changes" and data["more"] is (step is None)
                seen += len(data["rows"])  # type: ignore[arg-type]
                if step is not None:
                    break
        assert seen == 12_000


def test_a_step_that_is_forgotten_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dbsp.serving.following.feed._STEPS", 16)
    with served() as (client, _):
        for n in range(30):
            client.posted("orders", [{"id": n, "shop": "s"}])
        answer = client.get("/views/turnover/changes?since=2")
        assert answer.status_code == 410 and "step 3 is not kept" in answer.json()["error"]


def test_as_arrow() -> None:
    with served() as (client, _):
        for n in range(3):
            client.posted("orders", [{"id": n, "shop": "s"}])
        path = "/views/turnover/changes?since=1&until=last"
        stream = client.get(path, headers={"Accept": "application/vnd.apache.arrow.stream"}).content
        table = pa.ipc.open_stream(stream).read_all()
        rows = [(row["__step"], row["n"], row["__weight"]) for row in table.to_pylist()]
        assert sorted(rows) == [(2, 1, -1), (2, 2, 1), (3, 2, -1), (3, 3, 1)]


def test_one_step_that_is_kept() -> None:
    with served() as (client, _):
        for n in range(3):
            client.posted("orders", [{"id": n, "shop": "s"}])
        text = client.get("/views/turnover/changes?since=1&until=2").text
        assert [line for line in text.splitlines() if line.startswith("id: ")] == ["id: 2"]
        assert client.get("/views/turnover/changes?since=2&until=2").text == "retry: 1000\n\n"


@pytest.mark.slow
def test_many_followers_get_every_step() -> None:
    with served() as (client, serving):
        got: list[list[int]] = []

        def follow() -> None:
            steps: list[int] = []
            with (
                Client(base_url=client.base_url, trust_env=False, timeout=60) as mine,
                mine.stream("GET", "/views/turnover/changes?since=0") as answer,
            ):
                for step, _, _ in events(answer):
                    steps.append(step or 0)
                    if step == 5:
                        break
            got.append(steps)

        followers = [threading.Thread(target=follow) for _ in range(40)]
        for follower in followers:
            follower.start()
        for n in range(5):
            client.posted("orders", [{"id": n, "shop": "s"}])
        for follower in followers:
            follower.join()
        assert got == [[1, 2, 3, 4, 5]] * 40
        client.get("/healthz")
        assert serving.subscriptions.open <= 40
