"""Every example that the suite replays is on the page, as it is in its folder."""

from __future__ import annotations

from dbsp.docs.examples import examples
from dbsp.docs.site import ROOT


def test_every_example_is_there():
    text = examples(ROOT)
    folders = [file.parent for file in (ROOT / "examples").glob("*/expected.jsonl")]
    assert len(folders) >= 4
    for folder in folders:
        assert f"\n## {folder.name}\n" in text
        for file in folder.iterdir():
            assert f"`{file.name}`\n\n```" in text
            assert file.read_text(encoding="utf-8").strip() in text
