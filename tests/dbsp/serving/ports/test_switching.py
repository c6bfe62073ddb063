"""The program changes under its ports: who asks is answered by the one or the other, never by halves."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import psycopg
import pytest

from dbsp.pipeline.beside.changing import Changing
from dbsp.pipeline.pipeline import Pipeline
from dbsp.running.inline import InlineRunner
from dbsp.serving.access import Access
from dbsp.serving.app import Serving
from dbsp.serving.ports.server import listening
from dbsp.serving.ports.switching import Switching
from dbsp.serving.postgres.port import listening_postgres
from dbsp.sql.compiler.load import load_program
from tests.dbsp.serving.served import TOKEN, Client

pytestmark = pytest.mark.spark

BEFORE = """
CREATE TABLE votes (id BIGINT PRIMARY KEY, story BIGINT NOT NULL);
CREATE VIEW counts AS SELECT story, count(*) AS n FROM votes GROUP BY story;
"""
AFTER = BEFORE + "CREATE VIEW voters AS SELECT count(*) AS n FROM votes;\n"


def test_a_program_changes_while_it_is_asked(tmp_path: Path) -> None:
    before, after = load_program(BEFORE), load_program(AFTER)
    access = Access(TOKEN)
    with Pipeline(before, state=tmp_path, runner="inline") as old:
        old.insert("votes", [(i, i % 3) for i in range(30)])
        old.step()
        change = Changing(old, after, InlineRunner(), lambda line: None)
        serving = Serving(old, access, changing=change)
        change.progressed = serving.status.progressed
        switching = Switching(serving)
        with (
            listening(switching, "127.0.0.1", 0) as (host, port),
            listening_postgres(switching, "127.0.0.1", 0) as (_, sql),
            Client(
                base_url=f"http://{host}:{port}",
                headers={"Authorization": f"Bearer {TOKEN}"},
                trust_env=False,
                timeout=60,
            ) as client,
            psycopg.connect(host="127.0.0.1", port=sql, user="me", dbname="d", autocommit=True) as connected,
        ):
            assert client.get("/status").json()["changing"] == {
                "views": ["voters"],
                "rows": 0,
                "of": 0,
                "trouble": "",
                "waits": "",
            }
            change.fill()
            assert "dbsp_backfill_rows 30.0" in client.get("/metrics").text
            assert client.posted("votes", [{"id": 30, "story": 0}])["step"] == 2
            followed, going = Followed(client), threading.Event()
            follower = threading.Thread(target=followed.run, args=(going,))
            follower.start()
            assert going.wait(60)
            switching.leave()
            with pytest.raises(psycopg.OperationalError, match="its program changes; connect again"):
                connected.execute("SELECT 1")
            asked = threading.Thread(target=lambda: found.append(client.rows("/views/voters")))
            found: list[object] = []
            asked.start()
            change.commit()
            old.close()
            with Pipeline(after, state=tmp_path, runner="inline") as new:
                switching.enter(Serving(new, access))
                asked.join()
                assert found == [[{"n": 31}]]
                assert client.get("/status").json()["changing"] is None
                assert client.posted("votes", [{"id": 31, "story": 0}])["step"] == 4
                follower.join()
                # step 3 is of another view
                assert (followed.steps, followed.changed) == ([1, 2, 4], 3 + 2 + 2)
                with psycopg.connect(host="127.0.0.1", port=sql, user="me", dbname="d") as again:
                    assert again.execute("SELECT n FROM voters").fetchall() == [(32,)]


class Followed:
    """Who follows `counts`, and asks again from the step that it has where the stream ends, up to step 4."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.steps: list[int] = []
        self.changed = 0

    def run(self, going: threading.Event) -> None:
        last = "0"
        while not self.steps or self.steps[-1] < 4:
            with self.client.stream(
                "GET", "/views/counts/changes", headers={"Last-Event-ID": last}
            ) as answer:
                for line in answer.iter_lines():
                    if line.startswith("id: "):
                        last = line.removeprefix("id: ")
                    elif line.startswith("data: "):
                        event = json.loads(line.removeprefix("data: "))
                        self.steps.append(event["step"])
                        self.changed += len(event["rows"])
                        if event["step"] >= 2:
                            going.set()
                        if event["step"] == 4:
                            return


def test_nobody_asks_a_pipeline_that_has_left(tmp_path: Path) -> None:
    """`leave` returns when what was being answered has been."""
    before = load_program(BEFORE)
    with Pipeline(before, state=tmp_path, runner="inline") as old:
        switching = Switching(Serving(old, Access(TOKEN)))
        with (
            listening(switching, "127.0.0.1", 0) as (host, port),
            Client(base_url=f"http://{host}:{port}", trust_env=False, timeout=60) as client,
        ):
            old.turn.acquire()  # so that a write waits
            headers = {"Authorization": f"Bearer {TOKEN}"}
            answers: list[int] = []
            writing = threading.Thread(
                target=lambda: answers.append(
                    client.post("/tables/votes", json=[{"id": 1, "story": 1}], headers=headers).status_code
                )
            )
            writing.start()
            while not switching._inside:
                pass
            leaving = threading.Thread(target=switching.leave)
            leaving.start()
            assert not answers
            old.turn.release()
            leaving.join()
            writing.join()
            assert answers == [200] and old.last_step == 1
