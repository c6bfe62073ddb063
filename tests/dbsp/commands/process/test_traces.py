"""Traces reach a collector: a real one, as far as HTTP goes. One that is down stops nothing."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from dbsp.circuits.errors import Error
from dbsp.commands.cli import main
from dbsp.commands.process.traces import tracing
from tests.dbsp.commands.test_serve import PROGRAM, process


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, ExportTraceServiceRequest]]]]:
    """Its URL, and what it gets: paths and messages."""
    got: list[tuple[str, ExportTraceServiceRequest]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, ExportTraceServiceRequest.FromString(body)))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", got
    finally:
        server.shutdown()
        server.server_close()


def names(got: list[tuple[str, ExportTraceServiceRequest]]) -> list[str]:
    spans = [
        span for _, each in got for of in each.resource_spans for s in of.scope_spans for span in s.spans
    ]
    return [span.name for span in spans]


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No collector's but the test's own, and no proxy before it."""
    for name in [name for name in os.environ if name.startswith("OTEL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.mark.parametrize("how", ["option", "environment"])
def test_spans_are_sent_by_the_end(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with collector() as (url, got):
        if how == "environment":
            monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with tracing(url if how == "option" else None, "p.sql") as tracer:
            assert tracer is not None
            tracer.start_span("one").end()
        ((path, request),) = got
    assert path == "/v1/traces" and names(got) == ["one"]
    about = {each.key: each.value.string_value for each in request.resource_spans[0].resource.attributes}
    assert (about["service.name"], about["dbsp.program"]) == ("dbsp", "p.sql")


def test_the_environment_may_say_no(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for variables in (
        {},
        {"OTEL_SDK_DISABLED": "true"},
        {"OTEL_TRACES_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
    ):
        with monkeypatch.context() as of:
            if variables:
                of.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
            for name, value in variables.items():
                of.setenv(name, value)
            with tracing(None, "p.sql") as tracer:
                assert tracer is None
    assert capsys.readouterr().err == "no traces: they are sent as http/protobuf, not by grpc\n"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(Error, match=r"pip install 'dbsp\[otel\]'"), tracing("http://127.0.0.1:1", "p.sql"):
        pass
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    with tracing(None, "p.sql") as tracer:
        assert tracer is None
    assert "going on without" in capsys.readouterr().err


@pytest.mark.slow
def test_a_collector_that_is_down_ends_nothing_and_delays_the_end_little() -> None:
    with tracing("http://127.0.0.1:1", "p.sql") as tracer:
        assert tracer is not None
        began = time.monotonic()
        tracer.start_span("one").end()
        assert time.monotonic() - began < 5
    assert time.monotonic() - began < 60


def test_what_is_no_url_is_said_at_once() -> None:
    done = CliRunner().invoke(main, ["run", "p.sql", "--otlp", "collector:4318"])
    assert done.exit_code == 2 and "'collector:4318' is no URL of a collector" in done.stderr


@pytest.mark.spark
def test_a_server_s_steps_reach_the_collector(tmp_path: Path) -> None:
    (tmp_path / "p.sql").write_text(PROGRAM)
    with collector() as (url, got), process(tmp_path, "--otlp", url) as (client, running):
        client.post("/tables/votes", json=[{"user_id": 1, "story_id": 7}])
        running.send_signal(signal.SIGTERM)
        assert running.wait(60) == 0
        assert names(got) == ["dbsp.plan", "dbsp.tasks", "dbsp.commit", "dbsp.step"]
