"""What is told of steps while they are made: records of the log, and spans where somebody asks for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dbsp.running.metrics import Metrics
from dbsp.running.step_log import log_step

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from dbsp.running.tracing import StepSpans


class Observed:
    """tracer: OpenTelemetry's; None: no spans, and nothing of it is imported."""

    def __init__(self, tracer: Tracer | None) -> None:
        self._spans: StepSpans | None = None
        if tracer is not None:
            from dbsp.running.tracing import StepSpans  # noqa: PLC0415  an extra

            self._spans = StepSpans(tracer)

    @contextmanager
    def attempt(self, step: int) -> Iterator[None]:
        """The block makes a step: what it raises is told, too."""
        began = time.time_ns()
        try:
            yield
        except Exception as error:  # whatever the step raises is raised again; a span only tells of it
            if self._spans is not None:
                self._spans.failed(step, began, error)
            raise

    def made(self, step: int, metrics: Metrics, failed: Exception | None) -> None:
        """failed: what came after the step's commit."""
        log_step(step, metrics)
        if self._spans is not None:
            self._spans.made(step, metrics, failed)
