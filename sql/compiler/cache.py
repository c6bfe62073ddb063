"""Compiled programs on disk, so that a known program needs neither Spark nor a parser.

Key: the program's text after substitution, its name (in every error position), the functions handed over and
those of modules, the time zone, the user where current_user() may be called, the versions of Spark and Arrow,
and our own sources as far as a compiled program depends on them. An entry is a pickle, which may run
anything: what another user could have written is never read (`private_directory`). Beside the value it has
the jars that its expressions need: where a session has them is found out by compiling alone.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from dbsp.circuits.private_directory import cache_directory, read_checked, write_checked
from dbsp.sql.compiler.functions.handlers import handler_identities
from dbsp.sql.plans.program import Program
from dbsp.sql.plans.schemas import Schema
from dbsp.sql.text.source import Source, as_it_is

if TYPE_CHECKING:
    from dbsp.sql.plans.declared import Declared

Relations = Sequence[tuple[str, Schema]]

# of sql/ and circuits/
_ROOT = Path(__file__).resolve().parents[2]

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
    runs: bool = True,
) -> Program:
    """The entry of `source`, `functions` and `relations`, or what `compile_` makes, which is then kept.

    relations: of a query, what it may read: names and columns, in order. runs: as of `read_entry`.
    """
    found = read_entry(source, timezone, functions, relations, runs)
    if isinstance(found, Program):
        return found
    program = compile_()
    write_entry(program, source, timezone, functions, relations)
    if program.told:  # by which a state directory's readers know it
        write_entry(program, as_it_is(program.told, source.name), timezone, functions, relations)
    return program


def read_entry(
    source: Source,
    timezone: str,
    functions: Sequence[Declared] = (),
    relations: Relations = (),
    runs: bool = True,
) -> object:
    """The value that is kept under all these; None where there is none that can be read.

    runs: whether its expressions will be evaluated, so that a value isn't known whose jars are gone.
    """
    entry = f"{_key(source, timezone, functions, relations)}.pickle"
    content = read_checked(cache_directory(), entry)
    if content is None:
        return None
    try:
        jars, pickled = pickle.loads(content)
        return None if runs and not all(map(os.path.exists, jars)) else pickle.loads(pickled)
    except _CORRUPT:
        return None


def write_entry(
    value: object,
    source: Source,
    timezone: str,
    functions: Sequence[Declared] = (),
    relations: Relations = (),
) -> None:
    """Keep a value, which can be pickled, for `read_entry`."""
    body = pickle.dumps(_pickled(value), protocol=pickle.HIGHEST_PROTOCOL)
    entry = f"{_key(source, timezone, functions, relations)}.pickle"
    write_checked(cache_directory(), entry, body)


def _pickled(value: object) -> tuple[list[str], bytes]:
    """(the jars that its expressions need, wherever in it they are; the value)"""
    from dbsp.circuits.functions.spark.expression import SparkExpression  # noqa: PLC0415  a known program writes none

    jars: set[str] = set()

    class Noting(pickle.Pickler):
        def reducer_override(self, part: object) -> Any:
            if isinstance(part, SparkExpression) and part.jar:
                jars.add(part.jar)
            return NotImplemented

    written = io.BytesIO()
    Noting(written, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return sorted(jars), written.getvalue()


def _key(source: Source, timezone: str, functions: Sequence[Declared] = (), relations: Relations = ()) -> str:
    declared = (repr(functions) if functions else "") + (repr(relations) if relations else "")
    handlers = ";".join(handler_identities(source))
    user = repr(_user()) if _MAY_READ_USER.search(source.text) else ""
    parts = (
        source.text,
        source.original,
        source.name,
        timezone,
        declared,
        handlers,
        user,
        *_versions(),
        _sources(),
    )
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:{part}".encode())
    return digest.hexdigest()


_MAY_READ_USER = re.compile(r"\b(current_|session_)?user\b", re.IGNORECASE)


def _user() -> tuple[object, ...]:
    """By what Hadoop knows whose process it is."""
    return (*map(os.environ.get, ("SPARK_USER", "HADOOP_USER_NAME", "KRB5CCNAME")), os.getuid())


@cache
def _versions() -> list[str]:
    """Of Spark by what its file says: the metadata of packages takes a known program 15 ms to import."""
    python, spark = f"python {sys.version_info.major}.{sys.version_info.minor}", find_spec("pyspark")
    if spark is None or spark.origin is None:
        return [python, pa.__version__, "none"]
    return [python, pa.__version__, Path(spark.origin).with_name("version.py").read_text(encoding="utf-8")]


@cache
def _sources() -> str:
    """A digest of the compiler and of the classes its results are made of: not of the kernels.

    By contents, so that a copy of the files knows the same programs. To read some 400 takes longer than to
    open a known program: it is kept under a digest of names, sizes and times, as Python keeps bytecode.
    """
    files = sorted(_files())
    root = f"{_ROOT}/"
    found = ((name, os.stat(root + name)) for name in files)
    entry = f"{_digest(f'{name};{at.st_size};{at.st_mtime_ns};' for name, at in found)}.files"
    known = read_checked(cache_directory(), entry)
    if known is not None:
        return known.hex()
    digest = _digest(part for name in files for part in (f"{name};", (_ROOT / name).read_bytes()))
    write_checked(cache_directory(), entry, bytes.fromhex(digest))
    return digest


def _files() -> Iterator[str]:
    """Below the root."""
    root = f"{_ROOT}/"
    for top in ("sql", "circuits"):
        for directory, inside, names in os.walk(root + top):
            below = directory.removeprefix(root)
            if below == "circuits/functions":
                inside[:] = ["python"]
            else:
                yield from (f"{below}/{name}" for name in names if name.endswith((".py", ".java")))


def _digest(parts: Iterable[str | bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else part)
    return digest.hexdigest()
