"""No secret is in a state directory, and who reads its views needs none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dbsp.commands.query import query_state
from dbsp.pipeline.pipeline import Pipeline

SECRET = "hunter2-and-no-other"
PROGRAM = """
CREATE TABLE t (id BIGINT) WITH (append_only = true);
CREATE TABLE written (id BIGINT) USING json OPTIONS (path '{path}', `fs.s3a.secret.key` '${{PW}}');
CREATE VIEW v AS SELECT id + 1 AS id FROM t;
INSERT INTO written SELECT id FROM t;
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_state_directory_holds_no_secret(tmp_path: Path, spark: Any) -> None:
    state, text = tmp_path / "state", PROGRAM.format(path=tmp_path / "out")
    for rows in ([(1,)], [(2,)]):
        with Pipeline(sql=text, define={"PW": SECRET}, state=state, runner="inline", spark=spark) as p:
            assert p.program.tables["written"].option("fs.s3a.secret.key") == SECRET
            p.insert("t", rows)
            p.step()
    files = [path for path in state.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
    assert "'${PW}'" in (state / "program.json").read_text().replace("\\u0024", "$")
    assert list(query_state(str(state), "SELECT max(id) AS m FROM v", None, "json")) == ['{"m": 3}']
