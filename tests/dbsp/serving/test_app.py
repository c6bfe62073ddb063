"""Routes, and what is said where something is wrong."""

from __future__ import annotations

import pytest

from tests.dbsp.serving.served import served


def test_what_there_is() -> None:
    with served() as (client, _):
        assert client.get("/").json()["paths"]["/views"] == ["GET"]
        assert client.get("/views").json()["views"][0] == {
            "name": "turnover",
            "columns": [
                {"name": "shop", "type": "STRING", "nullable": False},
                {"name": "n", "type": "BIGINT", "nullable": False},
                {"name": "total", "type": "DECIMAL(20,2)", "nullable": True},
            ],
            "key": ["shop"],
            "ordered": False,
        }
        tables = client.get("/tables").json()["tables"]
        assert [(table["name"], table["key"]) for table in tables] == [("orders", ["id"]), ("visits", None)]
        assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "said"),
    [
        ("GET", "/views/turnove", 404, "unknown view 'turnove'; views: turnover, latest, visitors"),
        ("GET", "/views/turnover?shp=1", 400, "view 'turnover' has no column 'shp'"),
        ("GET", "/views/turnover?n=x", 400, "n=x doesn't fit BIGINT"),
        ("GET", "/views/turnover?n=1&n=2", 400, "n= is there twice"),
        ("GET", "/views/turnover?limit=-1", 400, "limit=-1; give a number"),
        ("GET", "/views/turnover?order=-x", 400, "order=x is no column; columns: shop, n, total"),
        ("GET", "/views/turnover?as_of=7", 410, "the state: step 7 is not kept"),
        ("GET", "/views/turnover?as_of=noon", 410, "the state: 'noon' is no step"),
        pytest.param("GET", "/views/turnover?where=nope%3D1", 400, "nope", marks=pytest.mark.slow),
        (
            "GET",
            "/views/turnover?format=xml",
            406,
            "format=xml; there are: json, ndjson, csv, arrow, parquet",
        ),
        ("GET", "/views/turnover/changes?since=9", 400, "since=9; give the number of a step, from 0 to 1"),
        ("GET", "/views/turnover/changes?until=5", 400, "until=5; give until=last, or the number of a step"),
        ("GET", "/query", 400, "no query: give ?sql=SELECT"),
        pytest.param("GET", "/query?sql=DROP+TABLE+orders", 400, "query:1:1", marks=pytest.mark.slow),
        ("POST", "/tables/order", 404, "unknown table 'order'; tables: orders, visits"),
        ("GET", "/nothing", 404, "GET /nothing: Not Found; there are: GET /, GET /views"),
        ("DELETE", "/views", 405, "DELETE /views: Method Not Allowed"),
    ],
)
def test_what_is_wrong_is_a_line(method: str, path: str, status: int, said: str) -> None:
    with served() as (client, serving):
        client.posted("orders", [{"id": 1, "shop": "Ada"}])
        answer = client.request(method, path)
        assert answer.status_code == status, answer.text
        assert said in answer.json()["error"]
        assert str(serving.pipeline.store.root) not in answer.text


def test_a_page_that_claims_to_be_here_is_turned_away() -> None:
    """A name of the attacker's that resolves to this machine."""
    with served() as (client, _):
        assert client.get("/views", headers={"Host": "evil.example:80"}).status_code == 400


def test_the_pipeline_that_ended_is_not_ready() -> None:
    with served() as (client, serving):
        serving.end()
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200


def test_a_method_that_is_not_there_says_which_are() -> None:
    with served() as (client, _):
        answer = client.delete("/views/latest")
        assert answer.status_code == 405 and "GET" in answer.headers["allow"]
        assert "allow" not in client.get("/nothing").headers


def test_a_word_that_is_there_twice_is_refused() -> None:
    with served() as (client, _):
        for path in (
            "/views/latest?limit=1&limit=2",
            "/query?sql=SELECT+1&sql=SELECT+2",
            "/views/latest?as_of=0&as_of=0",
        ):
            answer = client.get(path)
            assert answer.status_code == 400 and "= is there twice; give it once" in answer.json()["error"]
        assert client.get("/views/latest?limit=1&offset=1").status_code == 200
