"""The pages of the site, written where mkdocs builds it from.

    python -m dbsp.docs.site build/docs         what `make docs` does first

Nothing is said twice: the guides are sections of README.md, references are made of what the code says of
itself, and what the compiler covers is what the suite has found.
"""

from __future__ import annotations

import sys
from pathlib import Path

from dbsp.docs.command_reference import command_reference
from dbsp.docs.examples import examples
from dbsp.docs.python_reference import python_reference
from dbsp.docs.sections import page, sections, without_links
from dbsp.docs.sql_reference import sql_reference

OWN = Path(__file__).parent
ROOT = OWN.parents[1]

# of README.md, which section is on which page
GUIDES = {
    "programs.md": ("Programs", ["A program", "Change a program", "What was", "The guarantee"]),
    "sources.md": ("Sources and sinks", ["From files to files", "In Python"]),
    "pipelines.md": ("Declarative pipelines", ["Spark's declarative pipelines"]),
    "testing.md": ("Tests", ["Testing a program"]),
    "operations.md": (
        "Operations",
        ["State on an object store", "Over HTTP", "To PostgreSQL's clients", "On a cluster", "Measured"],
    ),
}
# what other pages have of it: the lists of what is covered
ELSEWHERE = {"", "Files written for Spark", "Limits"}


def pages(root: Path = ROOT) -> dict[str, str]:
    """By name the text of every page."""
    readme = without_links(_read(root / "README.md"))
    found = {"index.md": sections(readme)[""]}
    for name, (title, headings) in GUIDES.items():
        found[name] = page(title, readme, headings)
    found |= {name: _read(OWN / name) for name in ("tutorial.md", "functions.md")}
    found["examples.md"] = examples(root)
    found["sql.md"] = sql_reference(readme)
    found["commands.md"] = command_reference()
    found["python.md"] = python_reference()
    for note in sorted((root / "papers").glob("*.md")):
        found[f"papers/{note.name}"] = without_links(_read(note))
    for document in ("ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"):
        found[f"{document.lower()}.md"] = without_links(_read(root / f"{document}.md"))
    return found


def write(target: Path, root: Path = ROOT) -> None:
    """All pages, in a folder that has no others."""
    found = pages(root)
    for old in target.rglob("*.md"):
        if str(old.relative_to(target)) not in found:
            old.unlink()
    for name, text in found.items():
        file = target / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
