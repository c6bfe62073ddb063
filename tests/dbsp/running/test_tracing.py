"""A step is a span, its phases are within it, and nothing that is secret leaves with them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from dbsp.circuits.errors import DataError
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline

pytestmark = pytest.mark.spark

PROGRAM = """
CREATE TABLE votes (story BIGINT NOT NULL, n BIGINT);
CREATE VIEW counts AS SELECT story, sum(n) AS n FROM votes GROUP BY story;
"""
SINK = """
CREATE TABLE kept (story BIGINT PRIMARY KEY, n BIGINT) USING sqlite OPTIONS (path '{0}/x.db');
INSERT INTO kept SELECT * FROM counts;
"""


class Spans:
    """What a provider got of the steps since it was last asked."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracer = provider.get_tracer("test")

    def ended(self) -> list[ReadableSpan]:
        found = [*self.exporter.get_finished_spans()]
        self.exporter.clear()
        return found


def within(child: ReadableSpan, span: ReadableSpan) -> bool:
    assert child.start_time and child.end_time and span.start_time and span.end_time
    return span.start_time <= child.start_time <= child.end_time <= span.end_time


def test_a_step_is_a_span_with_its_phases() -> None:
    spans = Spans()
    with Pipeline(sql=PROGRAM, runner="inline", tracer=spans.tracer) as pipeline:
        pipeline.insert("votes", [(1, 2), (2, 3)])
        metrics = pipeline.step(read=0.25).metrics
    *phases, step = spans.ended()
    assert [each.name for each in phases] == ["dbsp.read", "dbsp.plan", "dbsp.tasks", "dbsp.commit"]
    assert dict(step.attributes or {}) == {
        "dbsp.step": 1,
        "dbsp.rows_in": 2,
        "dbsp.rows_in.votes": 2,
        "dbsp.rows_out": 2,
        "dbsp.rows_out.counts": 2,
        "dbsp.rows_late": 0,
    }
    assert step.parent is None and step.status.status_code is StatusCode.UNSET
    for phase in phases:
        assert phase.parent is not None and phase.parent.span_id == step.get_span_context().span_id
        assert within(phase, step)
    assert all(one.end_time == two.start_time for one, two in pairwise(phases))
    assert step.start_time and step.end_time
    assert (step.end_time - step.start_time) / 1e9 == pytest.approx(metrics.seconds + 0.25, abs=1e-6)


def test_who_has_a_span_open_is_its_parent() -> None:
    spans = Spans()
    with (
        Pipeline(sql=PROGRAM, runner="inline", tracer=spans.tracer) as pipeline,
        spans.tracer.start_as_current_span("mine"),
    ):
        pipeline.insert("votes", [(1, 2)])
        pipeline.step()
    step, mine = spans.ended()[-2:]
    assert step.parent is not None and step.parent.span_id == mine.get_span_context().span_id


def test_a_step_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DB_PASSWORD", "hidden-1")
    spans = Spans()
    with Pipeline(sql=PROGRAM, runner="inline", tracer=spans.tracer) as pipeline:
        pipeline.insert("votes", [(1, 2**62), (1, 2**62)])
        with pytest.raises(DataError):
            pipeline.step()
        (span,) = spans.ended()
        assert (span.attributes or {})["dbsp.step"] == 1
        assert (span.attributes or {})["error.type"] == "EvaluationError"
        assert span.status.status_code is StatusCode.ERROR
        assert (span.status.description or "").startswith("EvaluationError: ")
        pipeline.discard()
        with pytest.raises(DataError, match="hidden-1"), pipeline._observed.attempt(2):
            raise DataError("no route to x://me:pw@db as hidden-1\nand more")
        (span,) = spans.ended()
        assert span.status.description == "DataError: no route to x://me:***@db as ***"


def test_a_sink_that_fails_is_one_of_a_step_that_was_made(tmp_path: Path) -> None:
    spans = Spans()
    text = PROGRAM + SINK.format(tmp_path / "later")
    with Pipeline(sql=text, runner="inline", tracer=spans.tracer) as pipeline:
        pipeline.insert("votes", [(1, 2)])
        with pytest.raises(DeliveryError):
            pipeline.step()
        *phases, step = spans.ended()
        assert [each.name for each in phases][-1] == "dbsp.deliver"
        assert step.status.status_code is StatusCode.ERROR
        assert (step.attributes or {})["dbsp.rows_in"] == 1
