"""The suite mirrors the code: the idea of each module a/b.py has its tests at tests/a/test_b.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.imports import ROOT, sources

# of which every module has its tests
MIRRORED = ("circuits", "sql", "dbsp")


def mirror(module: Path) -> Path:
    return Path("tests") / module.parent / f"test_{module.name}"


@pytest.mark.parametrize("top", MIRRORED)
def test_every_module_has_its_tests(top: str) -> None:
    others = {"__init__.py", "__version__.py"}
    modules = [module for module in sources() if module.parts[0] == top and module.name not in others]
    assert modules
    assert [str(mirror(module)) for module in modules if not (ROOT / mirror(module)).is_file()] == []


@pytest.mark.parametrize("top", MIRRORED)
def test_every_mirrored_file_has_a_test(top: str) -> None:
    files = (ROOT / mirror(module) for module in sources() if module.parts[0] == top)
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.is_file()}
    assert [str(file) for file, text in texts.items() if "\ndef test_" not in text] == []
