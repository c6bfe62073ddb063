"""How small a step counts as small, for tests that want merges and spreads early."""

from __future__ import annotations

from dataclasses import replace

from dbsp.pipeline.pipeline import Pipeline


def set_small(pipeline: Pipeline, small: int) -> None:
    """From the pipeline's next step on."""
    step, state = pipeline._position.reached
    pipeline._position._reached = step, replace(state, small=small)
