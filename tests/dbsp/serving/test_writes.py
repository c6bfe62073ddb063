"""A request is a step, once, or nothing."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

from tests.dbsp.serving.served import TOKEN, served


def test_without_the_token_nothing_changes() -> None:
    with served() as (client, serving):
        for given in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x"):
            answer = client.post("/tables/orders", json=[{"id": 1}], headers={"Authorization": given})
            assert answer.status_code == 401 and "Bearer TOKEN" in answer.json()["error"]
            assert TOKEN not in answer.text
            assert client.post("/step", headers={"Authorization": given}).status_code == 401
        assert serving.pipeline.last_step == 0


@pytest.mark.slow
def test_random_changes_are_the_table() -> None:
    rng, table = random.Random(3), {}
    with served() as (client, _):
        for step in range(1, 40):
            kind = rng.randrange(4)
            ids = sorted(rng.sample(range(12), rng.randint(1, 5)))
            if kind == 0:
                rows = [
                    {"id": n, "shop": f"s{rng.randrange(3)}", "price": f"{rng.random():.2f}"} for n in ids
                ]
                client.posted("orders", rows)
                table |= {row["id"]: row for row in rows}
            elif kind == 1:
                gone = [n for n in ids if n in table]
                answer = client.request("DELETE", "/tables/orders", json=[{"id": n} for n in gone])
                assert answer.status_code == 200, answer.text
                for n in gone:
                    del table[n]
            elif kind == 2:
                rows = [{"id": n, "shop": "w", "price": None} for n in ids]
                assert client.put("/tables/orders", json=rows).status_code == 200
                table = {row["id"]: row for row in rows}
            else:
                rows = [{"id": n, "shop": "c", "price": "1.00", "__op": "U"} for n in ids]
                rows[0] = {"id": ids[0], "__op": "D"}
                client.posted("orders", rows)
                table |= {row["id"]: row for row in rows[1:]}
                table.pop(ids[0], None)
            found = {row["id"]: (row["shop"], row["price"]) for row in client.rows("/views/latest")}
            assert found == {n: (row["shop"], row["price"]) for n, row in table.items()}, step


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("application/json", b'[{"id": "x", "shop": "s"}]', "row 0: 'x' doesn't fit column 'id' (BIGINT"),
        ("application/json", b'[{"id": 1, "shop": "s"}, {"id": 2}]', "row 1: no value"),
        ("application/json", b'[{"id": 1, "shop": "s", "prize": 1}]', "unknown column 'prize'"),
        ("application/json", b'[{"id": 1, "shop": "s", "__op": "X"}]', "'X'"),
        ("application/json", b'[{"id": 1, "__op": "I", "__weight": 1}]', "a changelog has one of them"),
        ("application/json", b"[1]", "row 0 is no object"),
        ("application/json", b'[{"id": 1', "the body is no application/json"),
        ("application/json", b"\xff\xfe", "the body is no application/json"),
        ("application/json", b"[" * 100_000, "the body is no application/json"),
        ("application/json", b'[{"price": 1e99999999999999999999}]', "a number in it is beyond the range"),
        (
            "application/x-ndjson",
            b'{"id": 1}\n{"id": ' + b"9" * 5000 + b"}",
            "line 2: a number in it is beyond",
        ),
        ("application/x-ndjson", b'{"id": 1, "shop": "s"}\n{', "line 2: no JSON"),
        ("text/csv", b"id,shop\nx,y\n", "the body is no text/csv"),
        ("text/csv", b"", "the body is no text/csv"),
        ("application/vnd.apache.arrow.stream", b"nonsense", "the body is no application/vnd"),
        ("application/vnd.apache.parquet", b"nonsense", "the body is no application/vnd"),
        ("text/plain", b"x", "Content-Type: text/plain; rows come as application/json"),
    ],
)
def test_what_does_not_fit_is_refused_and_leaves_nothing(kind: str, body: bytes, said: str) -> None:
    with served() as (client, serving):
        answer = client.post("/tables/orders", content=body, headers={"Content-Type": kind})
        assert answer.status_code in (400, 406), answer.text
        assert said in answer.json()["error"]
        assert serving.pipeline.last_step == 0 and not serving.pipeline.queued
        client.posted("orders", [{"id": 1, "shop": "s"}])
        assert len(client.rows("/views/latest")) == 1


def test_an_append_only_table_takes_no_retraction() -> None:
    with served() as (client, serving):
        wrong = client.posted("visits", [{"shop": "a", "__weight": -1}], status=400)
        assert "append-only" in str(wrong["error"])
        assert (
            "append-only" in client.request("DELETE", "/tables/visits", json=[{"shop": "a"}]).json()["error"]
        )
        assert serving.pipeline.last_step == 0


SPANS = """
CREATE TABLE spans (m INTERVAL YEAR TO MONTH, n INT, PRIMARY KEY (m));
CREATE VIEW v AS SELECT CAST(m AS STRING) AS m, n FROM spans;
"""


def test_a_changelog_may_have_months() -> None:
    with served(program=SPANS) as (client, _):
        client.posted("spans", [{"m": 14, "n": 1, "__op": "U"}, {"m": 2, "n": 2, "__op": "I"}])
        client.posted("spans", [{"m": 2, "__op": "D"}])
        assert client.rows("/views/v") == [{"m": "INTERVAL '1-2' YEAR TO MONTH", "n": 1}]
        rows = pa.table({"m": pa.array([14], pa.duration("s")), "n": [1], "__op": ["U"]})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows)
        kind = {"Content-Type": "application/vnd.apache.arrow.stream"}
        answer = client.post("/tables/spans", content=sink.getvalue().to_pybytes(), headers=kind)
        assert answer.status_code == 400
        assert "is no interval of months" in answer.json()["error"]


@pytest.mark.slow
def test_a_key_is_a_step_of_any_process(tmp_path: Path) -> None:
    with served(tmp_path / "s") as (client, _):
        assert client.posted("visits", [{"shop": "a"}], key="k1") == {"step": 1, "changed": {"visitors": 1}}
        assert client.posted("visits", [{"shop": "a"}], key="k1") == {"step": 1, "repeated": True}
        wrong = client.posted("visits", [{"shp": "a"}], key="k2", status=400)
        assert "shp" in str(wrong["error"])  # and the key is free
        assert client.posted("visits", [{"shop": "b"}], key="k2")["step"] == 2
        assert client.posted("visits", [{"shop": "c"}])["step"] == 3
    with served(tmp_path / "s") as (client, _):
        assert client.posted("visits", [{"shop": "b"}], key="k2") == {"step": 2, "repeated": True}
        for n in range(100):
            client.posted("visits", [{"shop": f"{n}"}], key=f"more {n}")
        assert client.posted("visits", [{"shop": "b"}], key="k2")["step"] == 104  # 100 keys are remembered
        assert len(client.rows("/views/visitors")) == 104


def test_requests_at_the_same_time_are_one_after_the_other() -> None:
    with served() as (client, serving), ThreadPoolExecutor(8) as pool:
        made = list(
            pool.map(lambda n: client.posted("visits", [{"shop": f"{n}"}], key=f"{n % 20}"), range(60))
        )
        assert serving.pipeline.last_step == 20
        assert sum("repeated" in answer for answer in made) == 40
