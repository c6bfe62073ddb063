"""What imports what in the tree, from its text: also what is imported within functions, or for types only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOPS = ("circuits", "sql", "dbsp")

Graph = Mapping[Path, Set[Path]]


def sources() -> list[Path]:
    """Every module of the package, relative to the tree; links aren't followed."""
    return sorted(
        file.relative_to(ROOT)
        for top in TOPS
        for file in (ROOT / top).rglob("*.py")
        if not any((ROOT / parent).is_symlink() for parent in file.relative_to(ROOT).parents)
    )


def imports_of_files() -> Graph:
    """Per file the files that it imports."""
    files = sources()
    named = {_module(file): file for file in files}
    return {file: {named[name] for name in _imported(file, named)} - {file} for file in files}


def imports_of_folders(files: Graph) -> Graph:
    """Per folder the folders that its own files import. A file at the top is a folder of its own."""
    folders: dict[Path, set[Path]] = {_folder(file): set() for file in files}
    for file, imported in files.items():
        folders[_folder(file)] |= {_folder(other) for other in imported} - {_folder(file)}
    return folders


def _folder(file: Path) -> Path:
    return file if len(file.parts) == 2 else file.parent


def circles(graph: Graph) -> list[list[Path]]:
    """Its strongly connected components of several nodes."""
    reached = {node: _reached(node, graph) for node in graph}
    found = {
        tuple(sorted(other for other in reached[node] if node in reached[other]))
        for node in graph
        if node in reached[node]
    }
    return sorted(map(list, found))


def imported_at_run_time(file: Path) -> set[str]:
    """The dotted names of what a file imports, but for types only."""
    for_types = {
        id(inner)
        for node in _parsed(file).body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in _statements(node)
    }
    found = {
        name for node, name in _names(file) if isinstance(node, ast.Import) and id(node) not in for_types
    }
    for node, name in _names(file):
        if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
            found |= {f"{name}.{alias.name}" for alias in node.names}
    return found


def _module(file: Path) -> str:
    """`circuits/` and `sql/` are installed within `dbsp`."""
    parts = file.with_suffix("").parts
    parts = parts if parts[0] == "dbsp" else ("dbsp", *parts)
    return ".".join(parts).removesuffix(".__init__")


def _imported(file: Path, named: Mapping[str, Path]) -> Iterator[str]:
    for node, name in _names(file):
        if isinstance(node, ast.ImportFrom):
            members = {f"{name}.{alias.name}" for alias in node.names}
            yield from members & named.keys()
            if members <= named.keys():
                continue
        if name in named:
            yield name


@cache
def _names(file: Path) -> list[tuple[ast.Import | ast.ImportFrom, str]]:
    found: list[tuple[ast.Import | ast.ImportFrom, str]] = []
    for node in _statements(_parsed(file)):
        if isinstance(node, ast.Import):
            found += ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{file}:{node.lineno}: imports are absolute"
            found.append((node, node.module))
    return found


def _statements(above: ast.AST) -> Iterator[ast.AST]:
    """Each statement within it. Most nodes of a tree are expressions, which hold none."""
    for part in _PARTS:
        for node in getattr(above, part, ()):
            yield node
            yield from _statements(node)


_PARTS = ("body", "orelse", "finalbody", "handlers", "cases")


@cache
def _parsed(file: Path) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def _reached(start: Path, graph: Graph) -> set[Path]:
    """What a node leads to; itself only by a circle."""
    found: set[Path] = set()
    todo = [start]
    while todo:
        new = graph[todo.pop()] - found
        found |= new
        todo += new
    return found
