"""The executable cases of a note: under one heading, in this order, fenced blocks with these info strings.

    csv NAME | json NAME             a file that the program, or the query, reads; there may be several
    sql program                      the program
    sql deltas | jsonl deltas        a replay file
    sql query                        of files, without a program
    changelog                        what `dbsp step --output text` prints
    answer                           what `dbsp query` prints
    check                            what `dbsp check` prints, without the operators' numbers
    keys                             `view: stream key`, as `dbsp explain` has them
    error                            the line on stderr: of the step after the changelog, else of the compiler

A note has a case; a heading has one at most; a fenced block that belongs to none is a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ORDER = ("program", "deltas", "query", "changelog", "answer", "check", "keys", "error")
INFO = {
    "sql program": "program",
    "sql deltas": "deltas",
    "jsonl deltas": "deltas",
    "sql query": "query",
    "answer": "answer",
    "changelog": "changelog",
    "check": "check",
    "keys": "keys",
    "error": "error",
}
_FILE = re.compile(r"(?:csv|json) (\S+)")
_HEADING = re.compile(r"#{1,6} +(.*?) *#*")


class BadNote(Exception):
    """`note:line: what is wrong`."""


@dataclass(frozen=True)
class Block:
    info: str
    text: str
    line: int


@dataclass
class Case:
    """blocks: by the names of `ORDER`. files: by their names. line: of the heading."""

    note: str
    heading: str
    line: int
    blocks: dict[str, Block] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return f"{self.note}:{self.line}"

    @property
    def deltas_name(self) -> str:
        return f"deltas.{self.blocks['deltas'].info.split()[0]}"

    def text(self, name: str) -> str:
        """A block's text; '' where there is none."""
        return self.blocks[name].text if name in self.blocks else ""

    def add(self, block: Block) -> None:
        """Raises BadNote where the block is none of a case's, or comes too late."""
        where = f"{self.note}:{block.line}"
        name = INFO.get(block.info)
        if (file := _FILE.fullmatch(block.info)) is not None and not self.blocks:
            self.files[file[1]] = block.text
            return
        if name is None:
            raise BadNote(f"{where}: a block '{block.info}' belongs to no case; kinds: {', '.join(INFO)}")
        present = [ORDER.index(other) for other in self.blocks]
        if present and max(present) >= ORDER.index(name):
            raise BadNote(f"{where}: {name} after {list(self.blocks)[-1]}; a heading has one case")
        self.blocks[name] = block

    def complete(self) -> None:
        """Raises BadNote where something is missing."""
        if not self.blocks.keys() & {"program", "query"}:
            raise BadNote(f"{self.place}: '{self.heading}' has no program")
        if not set(self.blocks) - {"program", "deltas", "query"}:
            raise BadNote(f"{self.place}: '{self.heading}' expects nothing")
        if ("changelog" in self.blocks) > ("deltas" in self.blocks):
            raise BadNote(f"{self.place}: '{self.heading}' has a changelog, but no deltas")


def cases(path: Path) -> list[Case]:
    """The cases of a note, in order. Raises BadNote."""
    found: list[Case] = []
    case = Case(path.name, "", 1)
    for item in _items(path):
        if isinstance(item, Case):
            case = item
        else:
            if not case.blocks and not case.files:
                found.append(case)
            case.add(item)
    for case in found:
        case.complete()
    headings = [case.heading for case in found]
    for case in found:
        if headings.count(case.heading) > 1:
            raise BadNote(f"{case.place}: another case is called '{case.heading}' too")
    if not found:
        raise BadNote(f"{path.name}:1: the note has no case")
    return found


def _items(path: Path) -> Iterator[Case | Block]:
    """Headings (as cases without blocks) and fenced blocks, in order."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1)
    for number, line in lines:
        if line.startswith("```"):
            text = []
            for _, inner in lines:
                if inner.startswith("```"):
                    break
                text.append(inner)
            else:
                raise BadNote(f"{path.name}:{number}: the block has no end")
            yield Block(line[3:].strip(), "".join(text), number)
        elif match := _HEADING.fullmatch(line.rstrip("\n")):
            yield Case(path.name, match[1], number)
