"""What the log has of a step: a record of level INFO on the logger `dbsp`, with the numbers as fields."""

from __future__ import annotations

import logging

from dbsp.running.metrics import Metrics

log = logging.getLogger("dbsp")


def log_step(step: int, metrics: Metrics) -> None:
    """One record; its attribute `fields` is for formatters that write more than a text."""
    if log.isEnabledFor(logging.INFO):
        rows = sum(metrics.rows_in.values())
        said = f"step {step}: {rows} rows in, {sum(metrics.rows_out.values())} out, {metrics.seconds:.3f} s"
        log.info(said, extra={"fields": fields_of(step, metrics)})


def fields_of(step: int, metrics: Metrics) -> dict[str, object]:
    """Seconds of the step and of its phases; rows by relation, late ones where there are any."""
    fields: dict[str, object] = {
        "step": step,
        "seconds": round(metrics.seconds, 6),
        "phases": {phase: round(seconds, 6) for phase, seconds in metrics.phases.items()},
        "rows_in": metrics.rows_in,
        "rows_out": metrics.rows_out,
    }
    if metrics.late:
        fields["late"] = metrics.late
    return fields
