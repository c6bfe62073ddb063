"""The site has every section and every note, and mkdocs builds it without a warning."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from dbsp.docs.site import OWN, ROOT, pages, write

GUIDES = sorted((OWN / "guides").glob("*.md"))


def test_readme_leads_to_every_guide():
    led = re.findall(r"\]\(dbsp/docs/guides/([\w-]+\.md)", (ROOT / "README.md").read_text())
    assert {*led} | {"measured.md"} == {guide.name for guide in GUIDES}


@pytest.mark.parametrize("document", [ROOT / "README.md", *GUIDES], ids=lambda file: file.name)
def test_links_lead_somewhere(document):
    for path, anchor in re.findall(r"\]\((?!https?://)([^)#]*)#?([\w-]*)\)", document.read_text()):
        target = document.parent / path
        assert target.exists(), path
        headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M) if anchor else []
        assert not anchor or anchor in [
            re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings
        ]


def test_guides_link_to_each_other_and_to_nothing_else():
    found = pages()
    assert "](sinks.md)" in found["sources.md"]
    assert "](programs.md#replay-files)" in found["index.md"]
    assert "ARCHITECTURE.md](" not in found["guarantee.md"]


def test_every_page_is_in_the_navigation():
    listed = re.findall(r"[\w/-]+\.md", (OWN / "mkdocs.yml").read_text())
    assert sorted(listed) == sorted(pages())


def test_pages_that_are_gone_are_taken_away(tmp_path):
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "gone.md").write_text("old")
    write(tmp_path)
    assert {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*.md")} == set(pages())


@pytest.mark.slow
def test_mkdocs_builds_it(tmp_path):
    if any(find_spec(name) is None for name in ("mkdocs", "material", "mkdocstrings")):
        pytest.skip("the site isn't built here: pip install 'dbsp[docs]'")
    own = tmp_path / "dbsp" / "docs"
    own.mkdir(parents=True)
    shutil.copy(OWN / "mkdocs.yml", own)
    write(tmp_path / "build" / "docs")
    build = (sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(own / "mkdocs.yml"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    built = (tmp_path / "build" / "site" / "python" / "index.html").read_text()
    assert "assert_equals_spark" in built
    assert "Queue rows for the next step" in built  # docstrings are read
