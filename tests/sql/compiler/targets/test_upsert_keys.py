"""What can't be upserted by its key, and why."""

from __future__ import annotations

from typing import Any

import pytest

from dbsp.circuits.errors import ProgramError
from tests.sql.compiler.targets.into import compiled

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("columns", "insert", "properties", "error"),
    [
        (
            "a INT, n BIGINT",
            "SELECT shop, n FROM sold",
            "WITH (changelog = 'upsert')",
            "6:1: changelog = 'upsert' of 'out' needs a key; declare PRIMARY KEY (a) in it",
        ),
        (
            "a INT PRIMARY KEY, p BIGINT, n BIGINT",
            "SELECT shop, product, n FROM by_product",
            "",
            "6:1: PRIMARY KEY (a) of 'out': a key could have several rows; declare PRIMARY KEY (a, p)",
        ),
        (
            "a INT PRIMARY KEY, p BIGINT",
            "SELECT shop, product FROM sale",
            "",
            "6:1: PRIMARY KEY (a) of 'out': what is inserted has no stream key, so a key could have several "
            "rows; declare __weight BIGINT and no key in 'out'",
        ),
        (
            "a INT PRIMARY KEY, n BIGINT NOT NULL",
            "SELECT shop, n FROM sold",
            "",
            "6:1: column 'n' of 'out' is NOT NULL, but NULL where a key is deleted; declare it without NOT",
        ),
        (
            "a INT PRIMARY KEY, n BIGINT",
            "SELECT shop, units FROM sold",
            "",
            "6:1: in 'out' nothing tells the deletion of a key from a row with NULLs; declare a column __o",
        ),
        (
            "a INT PRIMARY KEY, n BIGINT",
            "SELECT shop, n FROM sold; INSERT INTO out SELECT shop, n FROM sold",
            "",
            "6:43: PRIMARY KEY (a) of 'out': a key could have a row of this query and one of that at p.sql",
        ),
    ],
)
def test_a_key_that_can_t_be(spark: Any, columns: str, insert: str, properties: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        compiled(spark, columns, insert, properties)
    assert error in str(raised.value)
