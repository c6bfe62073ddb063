"""Compiled programs on disk, so that a known program needs neither Spark nor a parser.

Key: the program's text after substitution, its name (in every error position), the functions handed over and
those of modules, the time zone, the versions of Spark and Arrow, and our own sources as far as a compiled
program depends on them. An entry is a pickle, which may run anything: what another user could have written is
never read (`private_directory`).
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from dbsp.sql.compiler.functions.handlers import handler_identities
from dbsp.sql.compiler.private_directory import read_private, write_private
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.source import Source, as_it_is

if TYPE_CHECKING:
    from dbsp.sql.plans.declared import Declared

Relations = Sequence[tuple[str, Schema]]

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
    source: Source,
    timezone: str,
    compile_: Callable[[], Program],
    functions: Sequence[Declared] = (),
    relations: Relations = (),
) -> Program:
    """The entry of `source`, `functions` and `relations`, or what `compile_` makes, which is then kept.

    relations: of a query, what it may read: names and columns, in order.
    """
    directory, entry = cache_directory(), _key(source, timezone, functions, relations) + ".pickle"
    program = _read(read_private(directory, entry))
    if program is None:
        program = compile_()
        body = pickle.dumps(program, protocol=pickle.HIGHEST_PROTOCOL)
        content = hashlib.sha256(body).digest() + body
        write_private(directory, entry, content)
        if program.told:  # by which a state directory's readers know it
            told = _key(as_it_is(program.told, source.name), timezone, functions, relations)
            write_private(directory, f"{told}.pickle", content)
    return program


def cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dbsp"


def _key(source: Source, timezone: str, functions: Sequence[Declared] = (), relations: Relations = ()) -> str:
    declared = (repr(functions) if functions else "") + (repr(relations) if relations else "")
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


def _read(content: bytes | None) -> Program | None:
    if content is None or hashlib.sha256(content[32:]).digest() != content[:32]:
        return None
    try:
        program = pickle.loads(content[32:])
    except _CORRUPT:
        return None
    return program if isinstance(program, Program) else None
