"""Steps, in words."""

from __future__ import annotations

import pytest

from dbsp.commands.shown.steps import named_steps


@pytest.mark.parametrize(
    ("steps", "said"), [([3], "step 3"), ([1, 2, 3], "steps 1 to 3"), ([1, 3, 4, 7], "steps 1, 3 to 4 and 7")]
)
def test_steps_in_words(steps, said):
    assert named_steps(steps) == said
