"""The pages of the site, written where mkdocs builds it from.

    python -m dbsp.docs.site build/docs         what `make docs` does first

Nothing is said twice: guides are read as they stand, references are made of what the code says of itself, and
what the compiler covers is what the suite has found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from dbsp.docs.command_reference import command_reference
from dbsp.docs.examples import examples
from dbsp.docs.python_reference import python_reference
from dbsp.docs.sections import without_links
from dbsp.docs.sql_reference import sql_reference

OWN = Path(__file__).parent
ROOT = OWN.parents[1]

# what README.md calls pages of the site, and what they are called there
_HERE = re.compile(r"\]\(dbsp/docs/(?:guides/)?([\w-]+\.md(?:#[\w-]+)?)\)")
# beside each other a guide calls another by its name, as on the site
_BESIDE = re.compile(r"\]\(([\w-]+\.md(?:#[\w-]+)?)\)")


def pages(root: Path = ROOT) -> dict[str, str]:
    """By name the text of every page."""
    found = {"index.md": _linked(_HERE, _read(root / "README.md"))}
    guides = {guide.name: _read(guide) for guide in sorted((OWN / "guides").glob("*.md"))}
    found |= {name: _linked(_BESIDE, text) for name, text in guides.items()}
    found |= {name: _read(OWN / name) for name in ("tutorial.md", "functions.md", "syntax.md")}
    found["examples.md"] = examples(root)
    found["sql.md"] = sql_reference(guides["limits.md"], guides["spark-files.md"])
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


def _linked(known: re.Pattern[str], text: str) -> str:
    """Without links but to other pages of the site."""
    kept = known.sub(r"](#page:\1)", text)
    return without_links(kept).replace("](#page:", "](")


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
