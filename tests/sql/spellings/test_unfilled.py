"""What a text says to others: no value of a connection's settings that came from the environment."""

from __future__ import annotations

import pytest

from dbsp.sql.spellings.unfilled import unfilled
from dbsp.sql.text.source import as_it_is, read

TOLD = """
-- ${NOTHING}
CREATE TABLE t (id BIGINT) USING jdbc
OPTIONS (url 'jdbc:postgresql://${HOST}/db', user "${USER}", password = '${PW}',
  `kafka.sasl.jaas.config` 'x ${PW} y', path 'in/${DIR}', header '${HEAD}', `value.schema` '${SCHEMA}')
WITH (append_only = ${APPEND}, schema_registry = 'http://${USER}:${PW}@${HOST}', format = 'avro');
CREATE VIEW v AS SELECT id, '${WORD}' AS options, '${PW}' AS password FROM t WHERE id IN (${ID}, 2);
"""
KNOWN = {
    "HOST": "secret host",
    "USER": "me",
    "PW": "secret",
    "DIR": "dir",
    "HEAD": "true",
    "SCHEMA": "s",
    "APPEND": "true",
    "WORD": "word",
    "ID": "1",
}


def test_settings_of_connections_are_as_they_were_written() -> None:
    kept = {name: KNOWN[name] for name in ("DIR", "HEAD", "SCHEMA", "APPEND", "WORD", "ID")}
    told = unfilled(read(TOLD, "p.sql", KNOWN))
    expected = TOLD.replace("'${PW}' AS password", "'secret' AS password")
    for name, value in kept.items():
        expected = expected.replace(f"${{{name}}}", value)
    assert told == expected


@pytest.mark.parametrize("value", ["a, b) c", "a = b", "(", "-- x", "/* x */"])
def test_whatever_the_value_is(value: str) -> None:
    text = "CREATE TABLE t (a INT) USING jdbc OPTIONS (url 'u', password '${PW}'); SELECT '${OTHER}';"
    told = unfilled(read(text, "p.sql", {"PW": value, "OTHER": "o"}))
    assert told == text.replace("${OTHER}", "o")


def test_a_text_with_nothing_filled_in_is_told_as_it_is() -> None:
    source = as_it_is("CREATE TABLE t (a INT) USING jdbc OPTIONS (password '${PW}')", "p.sql")
    assert unfilled(source) is source.text
