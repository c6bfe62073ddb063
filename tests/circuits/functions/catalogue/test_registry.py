"""The guide of limits says what of Spark's registry is maintained, and names what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.circuits.functions.catalogue.registry import (
    BEGIN,
    END,
    LIMITS,
    PAGE,
    coverage,
    page,
    said,
    written,
)


def test_what_is_said() -> None:
    found = {
        "functions": {"a": "", "x_1": "no", "x_2": "no", "x_3": "no", "x_4": "no", "y": "no"},
        "others": {"b": ""},
    }
    block = (
        "- 1 of 6 functions of Spark's documentation are maintained; refused: `x_*`, `y`\n"
        "- 1 of 1 others of Spark's documentation are maintained\n"
    )
    assert said(found) == block
    assert written(f"1\n{BEGIN}2\n{END}3\n", block) == f"1\n{BEGIN}{block}{END}3\n"
    # a family of which one is maintained is listed by its names
    mixed = said({"functions": {"x": "", **found["functions"]}})
    assert mixed.endswith("refused: `x_1`, `x_2`, `x_3`, `x_4`, `y`\n")


def test_the_page_of_functions() -> None:
    text = page({"scalar functions": {"b": "", "a": "", "x": "x() | is\nnot"}, "others": {"c": ""}})
    assert "## Scalar functions\n\n2 of 3 are maintained:\n\n`a`, `b`\n\n| not maintained" in text
    assert text.endswith("| `x` | x() \\| is not |\n\n## Others\n\n1 of 1 are maintained:\n\n`c`\n")


@pytest.mark.spark
@pytest.mark.slow
def test_the_documents_say_what_is_covered(spark: Any) -> None:
    text, found = LIMITS.read_text(encoding="utf-8"), coverage(spark)
    cure = "run python -m tests.circuits.functions.catalogue.registry --docs"
    assert written(text, said(found)) == text, cure
    assert page(found) == PAGE.read_text(encoding="utf-8"), cure
