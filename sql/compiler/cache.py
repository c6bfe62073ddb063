"""Compiled programs on disk, so that a known program needs neither Spark nor a parser.

Key: the program's text after substitution, its name (in every error position), the functions handed over and
those of modules, the time zone, the versions of Spark and Arrow, and our own sources as far as a compiled
program depends on them. An entry is one file, written under another name and renamed, so that a reader sees
all of it or none.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.sql.compiler.functions.handlers import handler_identities
from dbsp.sql.plans.program import Program
from dbsp.sql.text.source import Source

if TYPE_CHECKING:
    from dbsp.sql.plans.declared import Declared

# What a truncated, foreign or outdated pickle raises.
_CORRUPT = (
    pickle.UnpicklingError,
    EOFError,
    AttributeError,
    ImportError,
    IndexError,
    ValueError,
    TypeError,
    KeyError,
)


def cached(
    source: Source, timezone: str, compile_: Callable[[], Program], functions: Sequence[Declared] = ()
) -> Program:
    """The entry of `source` and `functions`, or what `compile_` makes, which is then kept."""
    entry = cache_directory() / (_key(source, timezone, functions) + ".pickle")
    program = _read(entry)
    if program is None:
        program = compile_()
        _write(entry, program)
    return program


def cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dbsp"


def _key(source: Source, timezone: str, functions: Sequence[Declared]) -> str:
    declared = repr(functions) if functions else ""
    handlers = ";".join(handler_identities(source))
    parts = (
        source.text,
        source.original,
        source.name,
        timezone,
        declared,
        handlers,
        *_versions(),
        _sources(),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()


def _versions() -> list[str]:
    found = [f"python {sys.version_info.major}.{sys.version_info.minor}"]
    for package in ("pyspark", "pyarrow", "dbsp"):
        try:
            found.append(version(package))
        except PackageNotFoundError:
            found.append("none")
    return found


@cache
def _sources() -> str:
    """A digest of the compiler and of the classes its results are made of: not of the kernels."""
    root = Path(__file__).resolve().parents[1]
    circuits = root.parent / "circuits"
    files = [*root.rglob("*.py"), *root.rglob("*.java")]
    files += [file for file in circuits.rglob("*.py") if circuits / "functions" not in file.parents]
    files += circuits.glob("functions/python/*.py")
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(f"{file.relative_to(root.parent)};".encode() + file.read_bytes())
    return digest.hexdigest()


def _read(entry: Path) -> Program | None:
    try:
        content = entry.read_bytes()
    except OSError:
        return None
    checksum, body = content[:32], content[32:]
    if hashlib.sha256(body).digest() != checksum:
        return None
    try:
        program = pickle.loads(body)
    except _CORRUPT:
        return None
    return program if isinstance(program, Program) else None


def _write(entry: Path, program: Program) -> None:
    """A cache that can't be written is no error: the program is compiled again next time."""
    body = pickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=entry.parent, delete=False) as file:
            file.write(hashlib.sha256(body).digest() + body)
        os.replace(file.name, entry)
    except OSError:
        return
