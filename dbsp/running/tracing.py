"""Steps as OpenTelemetry's spans: `dbsp.step`, and within it one for each phase.

They are made when a step is done, of what it has measured anyway: phases follow each other, and end now.
"""

from __future__ import annotations

import time

from opentelemetry.trace import Status, StatusCode, Tracer, set_span_in_context

from dbsp.running.metrics import Metrics
from dbsp.running.secrets import Secrets

# in the order of a step
PHASES = ("read", "plan", "tasks", "commit", "deliver")


class StepSpans:
    """tracer: of any provider. A span that is current in the thread of a step is its parent."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._secrets = Secrets()

    def made(self, step: int, metrics: Metrics, failed: Exception | None) -> None:
        """failed: what came after the step's commit."""
        end = time.time_ns()
        spent = {phase: round(metrics.phases[phase] * 1e9) for phase in PHASES if phase in metrics.phases}
        at = end - sum(spent.values())
        span = self._tracer.start_span("dbsp.step", start_time=at, attributes=_attributes(step, metrics))
        within = set_span_in_context(span)
        for phase, nanoseconds in spent.items():
            child = self._tracer.start_span(f"dbsp.{phase}", within, start_time=at)
            at += nanoseconds
            child.end(at)
        if failed is not None:
            span.set_status(self._status(failed))
        span.end(end)

    def failed(self, step: int, began: int, error: Exception) -> None:
        """An attempt at a step that wasn't made. began: in nanoseconds since 1970."""
        span = self._tracer.start_span("dbsp.step", start_time=began, attributes={"dbsp.step": step})
        span.set_attribute("error.type", type(error).__name__)
        span.set_status(self._status(error))
        span.end()

    def _status(self, error: Exception) -> Status:
        line = str(error).partition("\n")[0]
        return Status(StatusCode.ERROR, self._secrets.hidden(f"{type(error).__name__}: {line}"))


def _attributes(step: int, metrics: Metrics) -> dict[str, int]:
    """Changed rows, in all and by relation."""
    found = {"dbsp.step": step}
    for name, rows in (("in", metrics.rows_in), ("out", metrics.rows_out), ("late", metrics.late)):
        found[f"dbsp.rows_{name}"] = sum(rows.values())
        found |= {f"dbsp.rows_{name}.{relation}": count for relation, count in rows.items()}
    return found
