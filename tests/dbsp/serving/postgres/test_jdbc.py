"""PostgreSQL's own JDBC driver, as tools written in Java use it: metadata, prepared statements, batches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.dbsp.serving.postgres.connected import Served, connected, shops
from tests.dbsp.serving.served import TOKEN
from tests.servers.jars import driver
from tests.servers.missing import missing

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def port() -> Iterator[Served]:
    with connected() as served:
        served.http.posted("orders", shops())
        yield served


@dataclass(frozen=True)
class Java:
    """driver: PostgreSQL's, which is loaded once: py4j knows classes by their names."""

    jvm: Any
    driver: Any

    @contextmanager
    def connection(self, port: Served, **properties: str) -> Iterator[Any]:
        given = self.jvm.java.util.Properties()
        for name, value in {"user": "me", **properties}.items():
            given.setProperty(name, value)
        made = self.driver.connect(f"jdbc:postgresql://127.0.0.1:{port.port}/dbsp", given)
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(scope="module")
def java(spark: Any) -> Java:
    if not driver():
        missing("Postgres' driver for Spark")
    jvm = spark._jvm
    urls = spark.sparkContext._gateway.new_array(jvm.java.net.URL, 1)
    urls[0] = jvm.java.net.URL(Path(driver()[0]).as_uri())
    loaded = jvm.java.net.URLClassLoader(urls).loadClass("org.postgresql.Driver")
    return Java(jvm, loaded.newInstance())


def rows(found: Any, *columns: str) -> list[tuple[str, ...]]:
    answer = []
    while found.next():
        answer.append(tuple(found.getString(column) for column in columns))
    found.close()
    return answer


def test_tools_find_tables_their_columns_and_keys(java: Java, port: Served) -> None:
    with java.connection(port) as one:
        told = one.getMetaData()
        tables = rows(told.getTables(None, "public", "%", None), "TABLE_NAME", "TABLE_TYPE")
        assert {("orders", "TABLE"), ("turnover", "VIEW")} <= {*tables}
        columns = rows(told.getColumns(None, "public", "orders", "%"), "COLUMN_NAME", "TYPE_NAME", "NULLABLE")
        assert columns == [
            ("id", "int8", "0"),
            ("shop", "text", "0"),
            ("price", "numeric", "1"),
            ("at", "timestamptz", "1"),
        ]
        assert rows(told.getPrimaryKeys(None, "public", "orders"), "COLUMN_NAME", "KEY_SEQ") == [("id", "1")]


def test_tools_find_what_else_they_ask_for(java: Java, port: Served) -> None:
    """Of what isn't there they find nothing, and no error."""
    with java.connection(port) as one:
        told = one.getMetaData()
        assert ("public",) in rows(told.getSchemas(), "TABLE_SCHEM")
        assert rows(told.getCatalogs(), "TABLE_CAT") == [("dbsp",)]
        assert ("VIEW",) in rows(told.getTableTypes(), "TABLE_TYPE")
        assert rows(told.getIndexInfo(None, "public", "orders", True, False), "COLUMN_NAME") == [("id",)]
        assert rows(told.getBestRowIdentifier(None, "public", "orders", 2, False), "COLUMN_NAME") == [("id",)]
        assert rows(told.getImportedKeys(None, "public", "orders"), "FKTABLE_NAME") == []
        assert rows(told.getExportedKeys(None, "public", "orders"), "FKTABLE_NAME") == []
        assert rows(told.getProcedures(None, "public", "%"), "PROCEDURE_NAME") == []
        assert rows(told.getFunctions(None, "public", "%"), "FUNCTION_NAME") == []
        assert ("numeric",) in rows(told.getTypeInfo(), "TYPE_NAME")
        rows(told.getTablePrivileges(None, "public", "orders"), "TABLE_NAME")
        rows(told.getColumnPrivileges(None, "public", "orders", "%"), "COLUMN_NAME")


@pytest.mark.parametrize("mode", ["extended", "simple", "extendedForPrepared"])
def test_a_prepared_statement_gives_the_same_each_time(java: Java, port: Served, mode: str) -> None:
    """Of the driver's sixth call on, it is prepared by name, and its answers come in binary."""
    with java.connection(port, preferQueryMode=mode) as one:
        asked = one.prepareStatement("SELECT n, total FROM turnover WHERE shop = ?")
        for _ in range(8):
            asked.setString(1, "s1")
            assert rows(asked.executeQuery(), "n", "total") == [("3", "25.00")]
        asked.setString(1, "nobody")
        assert rows(asked.executeQuery(), "n", "total") == []


def test_rows_come_in_pieces_where_that_is_asked_for(java: Java, port: Served) -> None:
    with java.connection(port) as one:
        one.setAutoCommit(False)
        asked = one.createStatement()
        asked.setFetchSize(3)
        found = rows(asked.executeQuery("SELECT id FROM latest ORDER BY id"), "id")
        one.commit()
    assert found == [(str(i),) for i in range(10)]


def test_a_batch_is_one_step_and_what_is_wrong_has_its_state(java: Java, port: Served) -> None:
    with java.connection(port, user="writer", password=TOKEN) as one:
        before = port.serving.pipeline.last_step
        one.setAutoCommit(False)
        insert = one.prepareStatement("INSERT INTO orders (id, shop, price) VALUES (?, ?, ?)")
        for i in range(100, 120):
            insert.setLong(1, i)
            insert.setString(2, "batch")
            insert.setBigDecimal(3, java.jvm.java.math.BigDecimal("1.25"))
            insert.addBatch()
        assert [*insert.executeBatch()] == [1] * 20
        one.commit()
        assert port.serving.pipeline.last_step == before + 1
        with pytest.raises(Exception, match="unknown table 'nowhere'"):
            one.createStatement().executeQuery("SELECT * FROM nowhere")
        one.rollback()
    assert port.asked("SELECT n, total FROM turnover WHERE shop = 'batch'") == [(20, Decimal("25.00"))]
