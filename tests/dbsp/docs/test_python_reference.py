"""What is exported is in the reference, by where it is defined."""

from __future__ import annotations

import dbsp
import dbsp.testing
from dbsp.docs.python_reference import python_reference


def test_everything_that_is_exported_is_there():
    text = python_reference()
    assert text.count("::: ") == len(dbsp.__all__) + len(dbsp.testing.__all__)
    assert "\n::: dbsp.pipeline.pipeline.Pipeline\n" in text
    assert "\n::: dbsp.testing.golden.assert_replay\n" in text
    assert "\n::: dbsp.testing.Deltas\n" in text
