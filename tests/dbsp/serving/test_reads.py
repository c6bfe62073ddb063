"""Rows in every form, by every condition, while steps are made."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.csv as pc_csv
import pyarrow.parquet as pq
import pytest

from tests.dbsp.serving.served import served

ORDERS = [
    {"id": 1, "shop": "Ada", "price": "1.50", "at": "2024-03-31T01:30:00Z"},
    {"id": 2, "shop": "", "price": None, "at": None},
    {"id": 3, "shop": 'a "b", <script>\n', "price": "2.00", "at": "2024-03-31T01:30:00.000001Z"},
]


def test_every_form_has_the_same_rows() -> None:
    with served() as (client, serving):
        client.posted("orders", ORDERS)
        expected = pa.Table.from_batches([serving.pipeline["latest"].sorted_batch()])
        assert client.rows("/views/latest") == ORDERS
        lines = client.get("/views/latest", headers={"Accept": "text/plain;q=0, application/x-ndjson"}).text
        assert len(lines.splitlines()) == 3
        arrow = pa.ipc.open_stream(client.get("/views/latest?format=arrow").content).read_all()
        assert arrow.equals(expected), (arrow.schema, expected.schema)
        parquet = pq.read_table(io.BytesIO(client.get("/views/latest?format=parquet").content))
        assert parquet.to_pylist() == expected.to_pylist()
        options = pc_csv.ConvertOptions(
            column_types={"price": pa.decimal128(10, 2), "at": pa.timestamp("us", "UTC")},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        parse = pc_csv.ParseOptions(newlines_in_values=True)
        text = client.get("/views/latest?format=csv").content
        read = pc_csv.read_csv(io.BytesIO(text), convert_options=options, parse_options=parse)
        assert read.to_pylist() == expected.to_pylist()
        # and what a view gives in a form is what a table takes in it
        for form in ("csv", "arrow", "parquet", "ndjson"):
            answer = client.get(f"/views/latest?format={form}")
            kind = answer.headers["content-type"]
            again = client.put("/tables/orders", content=answer.content, headers={"Content-Type": kind})
            assert again.status_code == 200 and again.json()["changed"] == {}, (form, again.text)


def test_conditions_order_and_pages() -> None:
    with served() as (client, _):
        client.posted(
            "orders", [{"id": n, "shop": f"s{n % 3}", "price": n if n % 4 else None} for n in range(20)]
        )
        assert [row["id"] for row in client.rows("/views/latest?shop=s1&price=7")] == [7]
        assert client.rows("/views/turnover?shop=nobody") == []
        wanted = [n for n in (10, 9, 7, 6) if n % 4]
        found = client.rows("/views/latest?where=price+BETWEEN+6+AND+10&order=-price,id&as_of=1")
        assert [row["id"] for row in found] == wanted
        page = client.get("/views/latest?order=-shop,id&limit=4&offset=5").json()
        assert (page["step"], page["of"], page["more"]) == (1, 20, True)
        assert page["columns"] == client.get("/views").json()["views"][1]["columns"]
        ordered = sorted(range(20), key=lambda n: (-(n % 3), n))
        assert [row["id"] for row in page["rows"]] == ordered[5:9]
        nulls = [row["price"] for row in client.rows("/views/latest?order=-price")]
        assert nulls[-5:] == [None] * 5  # as Spark's: NULL is the least
        select = "SELECT shop, n FROM turnover WHERE n > 6 ORDER BY shop"
        counts = [{"shop": "s0", "n": 7}, {"shop": "s1", "n": 7}]
        assert client.post("/query", content=select).json()["rows"] == counts
        client.posted("orders", [{"id": 99, "shop": "s0"}])
        assert client.get("/query", params={"sql": select, "as_of": 1}).json()["rows"] == counts
        assert client.get("/views/turnover?as_of=1").headers["dbsp-step"] == "1"


NUMBERS = """
CREATE TABLE t (k INT PRIMARY KEY, d DOUBLE, f FLOAT);
CREATE VIEW v AS SELECT * FROM t;
"""


def test_rows_are_found_by_a_number_with_a_fraction() -> None:
    with served(program=NUMBERS) as (client, _):
        given = [(1, 1.5, 1.5), (2, 0, 0), (3, 5e-324, 0.1), (4, "NaN", "-Infinity"), (5, 1e300, None)]
        client.posted("t", [dict(zip("kdf", row, strict=True)) for row in given])
        for row in client.rows("/views/v"):
            for column in "dkf":
                if row[column] is None:
                    continue
                asked = {column: row[column]}
                found = client.get("/views/v", params=asked)
                assert found.status_code == 200, found.text
                assert found.json()["rows"] == [row]
                assert client.get("/views/v/why", params=asked).status_code == 200
        assert [row["k"] for row in client.rows("/views/v?f=.1")] == [3]
        assert [row["k"] for row in client.rows("/views/v?f=0.10000000149011612")] == [3]
        assert [row["k"] for row in client.rows("/views/v?d=-0")] == [2]
        for asked, said in (
            ("d=x", "expected a number"),
            ("d=1e400", "range of a DOUBLE"),
            ("f=1e39", "of a FLOAT"),
        ):
            refused = client.get(f"/views/v?{asked}")
            assert refused.status_code == 400 and said in refused.text


def test_a_float_has_the_digits_that_it_was_given() -> None:
    with served(program=NUMBERS) as (client, _):
        client.posted("t", [{"k": 1, "d": 0.1, "f": 0.1}])
        assert client.rows("/views/v") == [{"k": 1, "d": 0.1, "f": 0.1}]
        for form, told in (("ndjson", '{"k": 1, "d": 0.1, "f": 0.1}'), ("csv", '"1","0.1","0.1"')):
            answer = client.get(f"/views/v?format={form}")
            assert answer.text.splitlines()[-1] == told
            kind = answer.headers["content-type"]
            again = client.put("/tables/t", content=answer.content, headers={"Content-Type": kind})
            assert again.status_code == 200 and again.json()["changed"] == {}
        with client.stream("GET", "/views/v/changes?since=0&until=last") as changes:
            assert '"f": 0.1, ' in "".join(changes.iter_text())
        assert '"f": 0.1}' in client.get("/views/v/why?k=1").text


def test_columns_of_one_name_are_no_json() -> None:
    select = {"sql": "SELECT 1 AS a, 2 AS a"}
    with served() as (client, _):
        for form in ("json", "ndjson"):
            answer = client.get("/query", params=select | {"format": form})
            assert answer.status_code == 400 and "several are named 'a'" in answer.json()["error"]
        assert client.get("/query", params=select | {"format": "csv"}).text == '"a","a"\n"1","2"\n'
        arrow = client.get("/query", params=select | {"format": "arrow"}).content
        assert pa.ipc.open_stream(arrow).read_all().column_names == ["a", "a"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO orders (id, shop) VALUES (666, 'evil')",
        "  delete FROM orders WHERE id = 1",
        "UPDATE orders SET shop = 'x'",
        "TRUNCATE TABLE orders",
        "WITH o AS (SELECT 1) DELETE FROM orders",
        "MERGE INTO orders o USING orders p ON o.id = p.id WHEN MATCHED THEN DELETE",
    ],
)
def test_a_query_changes_nothing(statement: str) -> None:
    """Whoever can connect may read; a write takes the token."""
    with served() as (client, serving):
        client.posted("orders", ORDERS)
        for answer in (
            client.get("/query", params={"sql": statement}),
            client.post("/query", content=statement),
        ):
            assert answer.status_code == 400 and "a query only reads" in answer.text
        before = client.rows("/views/latest")
        serving.pipeline.step()
        assert client.rows("/views/latest") == before


@pytest.mark.slow
def test_no_read_waits_for_a_step() -> None:
    """However many writes do."""
    with served() as (client, serving):
        client.posted("orders", ORDERS)
        known = "/query?sql=SELECT+count(*)+FROM+turnover"
        client.rows(known)
        with ThreadPoolExecutor(20) as pool:
            with serving.pipeline.turn, serving.pipeline._lock:  # as while a step is made
                posts = [pool.submit(client.posted, "orders", [{"id": n, "shop": "s"}]) for n in range(20)]
                for path in ("/views/latest", "/views/latest?as_of=1", known):
                    assert client.rows(path)
                with client.stream("GET", "/views/latest/changes?since=0") as answer:
                    assert next(answer.iter_lines()) == "retry: 1000"
                assert client.get("/metrics").status_code == client.get("/readyz").status_code == 200
                assert not any(post.done() for post in posts)
            assert sorted(post.result()["step"] for post in posts) == list(range(2, 22))


@pytest.mark.slow
def test_an_answer_is_of_the_step_that_it_names() -> None:
    with served() as (client, _):
        stop, failed = threading.Event(), []

        def write() -> None:
            try:
                step = 0
                while not stop.is_set():
                    step += 1
                    assert client.posted("orders", [{"id": step, "shop": f"{step % 5}"}])["step"] == step
            except BaseException as error:
                failed.append(error)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(100):
                answer = client.get("/views/turnover").json()
                assert sum(row["n"] for row in answer["rows"]) == answer["step"]
        finally:
            stop.set()
            writer.join()
        assert not failed


@pytest.mark.slow
def test_why_a_row_is_there() -> None:
    with served() as (client, _):
        client.posted("orders", [{"id": 1, "shop": "Ada", "price": 2}, {"id": 2, "shop": "Ada"}])
        said = client.get("/views/turnover/why?shop=Ada").json()
        assert (said["count"], said["step"], said["changed_by"]) == (1, 1, 1)
        (group,) = said["inputs"]
        assert [row["id"] for row in group["inputs"][0]["rows"]] == [1, 2]
        first = client.get("/views/turnover/why?shop=Ada&limit=1").json()
        (rows,) = (one["inputs"][0] for one in first["inputs"])
        assert (rows["count"], len(rows["rows"])) == (2, 1)
        second = client.get("/views/turnover/why?shop=Ada&limit=1&offset=1").json()
        pages = [one["inputs"][0]["inputs"][0]["rows"] for one in (first, second)]
        assert [row["id"] for page in pages for row in page] == [1, 2]
        text = client.get("/views/turnover/why?shop=Ada&format=text&limit=1&offset=1").text
        assert "| ... after 1" in text and '"id": 2' in text and '"id": 1,' not in text.split("changed")[0]
        text = client.get("/views/turnover/why?shop=Bo&format=text").text
        assert "<- lost here" in text
        wrong = client.get("/views/turnover/why")
        assert wrong.status_code == 400 and "give values of columns, as ?shop=..." in wrong.text
