"""The document of a server is OpenAPI, has each of its routes, and holds of what it answers."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from starlette.requests import Request
from starlette.responses import Response

from dbsp.serving.openapi.document import Document
from tests.dbsp.serving.served import Client, served

ODD = """
CREATE TABLE `a table` (limit BIGINT, `x/y` STRING);
CREATE VIEW `odd {name}` AS SELECT limit, `x/y` FROM `a table`;
CREATE SCHEMA s;
CREATE VIEW s.v AS SELECT limit FROM `a table`;
"""


def document_of(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    validate(found)
    return found


def assert_answer(document: dict[str, Any], client: Client, path: str, at: str = "") -> None:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    schema = document["paths"][at or path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    whole = {"components": document["components"], **schema}
    assert [*Draft202012Validator(whole).iter_errors(answer.json())] == [], path


@pytest.mark.slow
def test_it_holds_of_what_is_answered() -> None:
    with served() as (client, _):
        document = document_of(client)
        client.posted("orders", [{"id": 1, "shop": "Ada", "price": "1.50", "at": "2024-02-29T10:00:00Z"}])
        client.posted("orders", [{"id": 2, "shop": "Bob"}])
        for path in ("/", "/views", "/tables", "/views/turnover", "/views/latest", "/healthz", "/readyz"):
            assert_answer(document, client, path)
        assert_answer(document, client, "/query?sql=SELECT+1+AS+x", at="/query")
        assert_answer(document, client, "/views/turnover/why?shop=Ada", at="/views/turnover/why")
        (error,) = [client.get("/views/turnover?nothing=1").json()]
        assert Draft202012Validator(document["components"]["schemas"]["Error"]).is_valid(error)


@pytest.mark.slow
def test_each_route_is_there_for_each_view_and_table() -> None:
    with served() as (client, serving):
        document = document_of(client)
        routes = client.get("/").json()["paths"]
        expected = set()
        for path, methods in routes.items():
            names = {"/views": serving.pipeline.views, "/tables": serving.pipeline.tables}
            for name in names.get(path.split("/{name}")[0], [""]) if "{name}" in path else [""]:
                expected |= {(path.replace("{name}", name), method.lower()) for method in methods}
        assert {(path, method) for path, of in document["paths"].items() for method in of} == expected
        writes = {
            path for path, of in document["paths"].items() for each in of.values() if "security" in each
        }
        assert writes == {"/tables/orders", "/tables/visits", "/step"}
        columns = {each["name"] for each in document["paths"]["/views/turnover"]["get"]["parameters"]}
        assert {"shop", "n", "total", "where", "as_of"} <= columns


@pytest.mark.spark
def test_names_that_no_url_has() -> None:
    with served(program=ODD) as (client, _):
        document = document_of(client)
        assert {"/views/odd%20%7Bname%7D", "/views/s.v", "/tables/a%20table"} <= document["paths"].keys()
        client.posted("a%20table", [{"limit": 1, "x/y": "b"}])
        assert_answer(document, client, "/views/odd%20%7Bname%7D")
        asked = [each["name"] for each in document["paths"]["/views/odd%20%7Bname%7D"]["get"]["parameters"]]
        assert asked.count("limit") == 1 and "x/y" in asked


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/page", "/page/{file}", "/views/{name}/page"])
def test_a_route_that_is_not_known_is_there_all_the_same(path: str) -> None:
    async def page(request: Request) -> Response:
        """What a person sees. And more."""
        return Response()

    with served() as (_, serving):
        made = Document(serving.pipeline.program, [(path, ["GET"], page)], {}).content
    validate(made)
    (first, *_) = made["paths"].values()
    assert first["get"]["summary"] == "What a person sees. And more"
