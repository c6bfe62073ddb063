"""`dbsp serve` as a process: it answers, survives a kill, ends when it is told to."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from tests.dbsp.serving.certificates import certified
from tests.servers.ports import free_port

pytestmark = pytest.mark.spark

SECONDS = 120  # more than anything here takes on a busy machine

PROGRAM = """
CREATE TABLE votes (user_id BIGINT, story_id BIGINT NOT NULL);
CREATE VIEW counts AS SELECT story_id, count(*) AS n FROM votes GROUP BY story_id;
"""
FILES = """
CREATE TABLE votes (user_id BIGINT, story_id BIGINT) USING csv OPTIONS (path 'in', header 'true');
CREATE TABLE extra (story_id BIGINT);
CREATE VIEW counts AS
SELECT story_id, count(*) AS n
FROM (SELECT story_id FROM votes UNION ALL SELECT story_id FROM extra) GROUP BY story_id;
"""
SINK = """
CREATE TABLE kept (story_id BIGINT PRIMARY KEY, n BIGINT) USING sqlite OPTIONS (path 'later/x.db');
INSERT INTO kept SELECT * FROM counts;
"""


@contextmanager
def process(
    folder: Path, *options: str, trusted: str | None = None
) -> Iterator[tuple[httpx.Client, subprocess.Popen[str]]]:
    command = [
        sys.executable,
        "-m",
        "dbsp.commands.cli",
        "serve",
        "p.sql",
        "--http",
        "0",
        "--state",
        "s",
        *options,
    ]
    environment = {**os.environ, "DBSP_TOKEN": "t", "PYTHONPATH": os.getcwd()}
    running = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        assert running.stderr is not None
        address = None
        while address is None:
            line = running.stderr.readline()
            assert line, "it ended"
            address = re.search(r"https?://\S+", line)
        headers = {"Authorization": "Bearer t"}
        verify = True if trusted is None else ssl.create_default_context(cafile=trusted)
        with httpx.Client(
            base_url=address[0], headers=headers, trust_env=False, timeout=SECONDS, verify=verify
        ) as client:
            yield client, running
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()


def test_a_killed_server_has_what_it_acknowledged(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    with process(tmp_path) as (client, running):
        for n in range(3):
            answer = client.post(
                "/tables/votes", json=[{"user_id": n, "story_id": 7}], headers={"Idempotency-Key": f"{n}"}
            )
            assert answer.json()["step"] == n + 1
        os.killpg(running.pid, signal.SIGKILL)
    with process(tmp_path) as (client, running):
        again = client.post(
            "/tables/votes", json=[{"user_id": 2, "story_id": 7}], headers={"Idempotency-Key": "2"}
        )
        assert again.json() == {"step": 3, "repeated": True}
        assert client.get("/views/counts?story_id=7").json()["rows"] == [{"story_id": 7, "n": 3}]
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0


def test_postgres_clients_connect_to_it(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    port = free_port()
    with process(tmp_path, "--postgres", str(port)) as (client, running):
        client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}])
        with psycopg.connect(
            host="127.0.0.1", port=port, user="me", dbname="any", autocommit=True
        ) as connection:
            assert connection.execute("SELECT * FROM counts").fetchall() == [(7, 1)]
            running.send_signal(signal.SIGTERM)
            assert running.wait(SECONDS) == 0


def test_all_ports_answer_by_tls(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    shows = certified(tmp_path)
    port = free_port()
    (tmp_path / "dbsp.toml").write_text(f"tls-cert = '{shows.file}'\npostgres = {port}\n")
    with process(tmp_path, "--tls-key", shows.key, trusted=shows.file) as (client, running):
        assert client.base_url.scheme == "https"
        client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}])
        url = f"postgresql://writer:t@localhost:{port}/dbsp?sslmode=verify-full&sslrootcert={shows.file}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("INSERT INTO votes VALUES (2, 7)")
            assert connection.execute("SELECT * FROM counts").fetchall() == [(7, 2)]
            running.send_signal(signal.SIGTERM)
            assert running.wait(SECONDS) == 0


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (
            ["--tls-cert", "no.pem", "--tls-key", "k"],
            1,
            "no.pem: it can't be read: No such file or directory",
        ),
        (["--tls-cert", "c"], 2, "Error: --tls-cert and --tls-key go together"),
    ],
)
def test_a_certificate_is_looked_at_first(options: list[str], status: int, said: str) -> None:
    """Before the program, which isn't there either."""
    done = CliRunner().invoke(main, ["serve", "no.sql", *options])
    assert (done.exit_code, done.output.splitlines()[-1]) == (status, said)


def test_files_and_requests_feed_one_program(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(FILES)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("user_id,story_id\n1,7\n2,7\n")
    with process(tmp_path) as (client, running):
        posted = 0
        with client.stream("GET", "/views/counts/changes?since=0") as answer:
            for line in answer.iter_lines():
                if line.startswith("data: ") and '"n": 2' in line and not posted:
                    posted = client.post("/tables/extra", json=[{"story_id": 7}]).json()["step"]
                    (tmp_path / "in" / "b.csv").write_text("user_id,story_id\n3,7\n")
                if line.startswith("data: ") and '"n": 4' in line:
                    break
        assert posted
        assert client.get("/views/counts").json()["rows"] == [{"story_id": 7, "n": 4}]
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0


def test_a_sink_that_is_down_keeps_nobody_from_reading(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM + SINK)
    with process(tmp_path) as (client, _):
        made = client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}]).json()
        assert made["step"] == 1 and "kept" in made["warning"]
        refused = client.post("/tables/votes", json=[{"user_id": 2, "story_id": 7}])
        assert refused.status_code == 503 and "no step is made" in refused.json()["error"]
        eventually(lambda: client.get("/readyz").status_code == 503)
        assert 'dbsp_undelivered_steps{sink="kept"} 1.0' in client.get("/metrics").text
        assert client.get("/views/counts").json()["rows"] == [{"story_id": 7, "n": 1}]
        (tmp_path / "later").mkdir()
        eventually(lambda: client.get("/readyz").status_code == 200)
        assert 'dbsp_undelivered_steps{sink="kept"} 0.0' in client.get("/metrics").text
        assert client.post("/tables/votes", json=[{"user_id": 2, "story_id": 7}]).json()["step"] == 2
        with sqlite3.connect(tmp_path / "later" / "x.db") as kept:
            assert kept.execute("SELECT sum(n) FROM kept").fetchall() == [(2,)]


def eventually(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


MORE = PROGRAM + "CREATE VIEW voters AS SELECT count(*) AS n, count(DISTINCT user_id) AS users FROM votes;\n"


def test_a_program_that_changes_is_served_all_the_while(tmp_path: Path) -> None:
    """The port is open before the new view is there. Killed at any moment, it is one program or the other."""
    (tmp_path / "p.sql").write_text(PROGRAM)
    rows, step = 200_000, 1
    with process(tmp_path) as (client, running):
        lines = "user_id,story_id\n" + "".join(f"{n},{n % 7}\n" for n in range(rows))
        client.post("/tables/votes", content=lines, headers={"Content-Type": "text/csv"}).raise_for_status()
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0
    (tmp_path / "p.sql").write_text(MORE)
    for moment in (0.0, 0.05, 0.15, 0.3):
        with process(tmp_path, "--evolve") as (client, running):
            if client.get("/views").json()["step"] == step:  # of the old program
                status = client.get("/status").json()
                assert status["changing"] is None or status["changing"]["views"] == ["voters"]
            time.sleep(moment)  # whatever it is at by then
            os.killpg(running.pid, signal.SIGKILL)
    with process(tmp_path, "--evolve") as (client, running):
        before = client.post("/tables/votes", json=[{"user_id": -1, "story_id": 8}]).json()["step"]
        eventually(lambda: "voters" in client.get("/views").text)
        expected = [{"n": rows + 1, "users": rows + 1}]
        assert client.get("/views/voters").json()["rows"] == expected
        assert client.get("/healthz").json()["step"] in (before, before + 1) and before in (2, 3)
        assert {row["n"] for row in client.get("/views/counts").json()["rows"]} >= {1}
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0
    with process(tmp_path) as (client, running):
        assert client.get("/views/voters").json()["rows"] == expected
        assert client.get("/healthz").json()["step"] == 3


def test_it_ends_while_its_program_changes(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    with process(tmp_path) as (client, running):
        client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}]).raise_for_status()
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) == 0
    (tmp_path / "p.sql").write_text(MORE)
    with process(tmp_path, "--evolve") as (_, running):
        running.send_signal(signal.SIGTERM)
        assert running.wait(SECONDS) in (0, 143)


def test_what_cannot_be_served_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text("CREATE VIEW v AS SELECT * FROM nothing;\n")
    command = [sys.executable, "-m", "dbsp.commands.cli", "serve", "p.sql", "--http", "0"]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=environment, check=False
    )
    assert ended.returncode == 1
    assert re.fullmatch(r"p\.sql:1:\d+: unknown table 'nothing'.*\n", ended.stderr), ended.stderr
