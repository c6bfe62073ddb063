"""SQL of a target in MariaDB."""

from __future__ import annotations

import pyarrow as pa

from dbsp.sql.plans.schemas import Field
from dbsp.targets.mariadb.statements import MYSQL, MariadbStatements

COLUMNS = (Field("k`", pa.string(), False), Field("100%", pa.binary()), Field("n", pa.decimal128(9, 2)))


def test_texts_are_compared_as_bytes_and_keys_have_a_length() -> None:
    made = MariadbStatements("s.t", COLUMNS, ("k`",)).create[1]
    assert made == (
        "CREATE TABLE IF NOT EXISTS `s`.`t` (`k``` varchar(768) CHARACTER SET utf8mb4 COLLATE "
        "utf8mb4_nopad_bin NOT NULL, `100%` longblob, `n` decimal(9, 2), PRIMARY KEY (`k```)) ENGINE = InnoDB"
    )
    assert "utf8mb4_0900_bin" in MariadbStatements("t", COLUMNS, ("k`",), collation=MYSQL).create[1]
    assert "varchar(384)" in MariadbStatements("t", COLUMNS, ("k`", "100%")).create[1]
    assert "varbinary(1536)" in MariadbStatements("t", COLUMNS, ("k`", "100%")).create[1]


def test_of_a_key_alone_nothing_is_updated() -> None:
    both, alone = (MariadbStatements("t", columns, ("k`",)) for columns in (COLUMNS[::2], COLUMNS[:1]))
    assert both.apply[1].endswith("ON DUPLICATE KEY UPDATE `n` = VALUES(`n`)")
    assert alone.apply[1].endswith("ON DUPLICATE KEY UPDATE `k``` = VALUES(`k```)")


def test_bytes_are_read_from_digits() -> None:
    loaded = MariadbStatements("t", COLUMNS, ()).load("/tmp/x", is_staged=False)
    assert loaded.endswith("(`k```, @b1, `n`) SET `100%` = UNHEX(@b1)")
