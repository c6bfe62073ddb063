"""How far sources are behind, for however many ask."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbsp.serving.following import sources
from tests.dbsp.serving.served import served


@pytest.mark.spark
def test_what_each_has_and_when_it_had_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    text = f"""
    CREATE TABLE t (x INT) USING json OPTIONS (path '{tmp_path}/in');
    CREATE TABLE u (x INT);
    CREATE VIEW v AS SELECT t.x FROM t JOIN u ON t.x = u.x;
    """
    nothing = {"table": "t", "format": "json", "unread": None, "unit": None, "quiet": None, "away": None}
    with served(program=text) as (client, serving):
        assert client.get("/sources").json() == {"sources": [nothing]}
        client.posted("t", [{"x": 1}])
        client.posted("u", [{"x": 1}])
        asked: list[None] = []

        def behind() -> dict[str, tuple[int, str]]:
            asked.append(None)
            return {"t": (3, "files")}

        serving.pipeline.behind = behind
        monkeypatch.setattr(sources, "_GOOD", -1.0)
        (found,) = client.get("/sources").json()["sources"]
        assert 0 <= found.pop("quiet") < 60
        assert found == {"table": "t", "format": "json", "unread": 3, "unit": "files", "away": None}
        serving.pipeline.away = lambda: {"t": "no route"}
        assert client.get("/sources").json()["sources"][0]["away"] == "no route"
        monkeypatch.setattr(sources, "_GOOD", 60.0)
        asked.clear()
        with ThreadPoolExecutor(8) as threads:
            several = [*threads.map(lambda _: client.get("/sources").json(), range(20))]
        assert {one["sources"][0]["unread"] for one in several} == {3} and asked == []
