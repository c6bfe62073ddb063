"""Figures in the documents that the code knows are what the code says."""

from __future__ import annotations

import re

import pytest

from dbsp.circuits.traces.spine import CREDIT, FAN_IN
from dbsp.state.keeping.keep import STEPS
from tests.architecture.imports import ROOT
from tests.circuits.functions.catalogue import coverage

WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "ten": 10, "twenty": 20}
FUNCTIONS = len(coverage.catalogue())


@pytest.mark.parametrize(
    ("document", "said", "value"),
    [
        ("ARCHITECTURE.md", r"(\w+) runs of a size class become a merge", FAN_IN),
        ("ARCHITECTURE.md", r"a step merges about ([\w.]+) rows of it for each one it inserted", CREDIT),
        ("ARCHITECTURE.md", r"The last (\w+) steps stay readable", STEPS),
        ("CONTRIBUTING.md", r"the functions Spark has: (\w+) names today", FUNCTIONS),
    ],
)
def test_a_figure_is_the_code_s(document: str, said: str, value: int) -> None:
    text = " ".join((ROOT / document).read_text(encoding="utf-8").split())
    (figure,) = re.findall(said, text)
    assert WORDS.get(figure.lower(), figure) in (value, str(value))
