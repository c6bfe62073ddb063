"""The spec of a project, read by PySpark's own code: fields and errors are those of `spark-pipelines`.

What it has said of a text is kept, with compiled programs: its import takes longer than a small refresh.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbsp.circuits.errors import Error
from dbsp.declared.remembered.key import sources
from dbsp.sql.compiler.cache import read_entry, write_entry
from dbsp.sql.text.source import Source, as_it_is
from dbsp.state.records.places import local_path, scheme_of

_NAMES = ("spark-pipeline.yaml", "spark-pipeline.yml")


@dataclass(frozen=True)
class Said:
    """What is in a spec. globs: of its libraries."""

    name: str
    storage: str
    catalog: str | None
    database: str | None
    configuration: Mapping[str, str]
    globs: Sequence[str]


@dataclass(frozen=True)
class Spec:
    """path: of the file. read: what is in it, as PySpark has read it."""

    path: Path
    read: Said

    @property
    def root(self) -> Path:
        """The directory that globs are of."""
        return self.path.parent.resolve()

    @property
    def name(self) -> str:
        """Of the pipeline."""
        return self.read.name

    @property
    def storage(self) -> str:
        """The place of the state: a directory, or the URI of a store."""
        given = self.read.storage
        return given if scheme_of(given) is not None else local_path(given)

    def files(self) -> list[Path]:
        """Those that define the pipeline, glob by glob. Raises Error for none, and for other languages."""
        found: dict[Path, None] = {}
        for glob in self.read.globs:
            for file in sorted(self.root.glob(glob)):
                if file.is_file() and "__pycache__" not in file.parts:
                    found[file] = None
        if not found:
            named = ", ".join(glob.removesuffix("/*") for glob in self.read.globs)  # as the spec spells them
            raise Error(f"{self.path}: its libraries name no file in {self.root}: {named}")
        for file in found:
            if file.suffix not in (".sql", ".py"):
                raise Error(
                    said_by_spark("PIPELINE_UNSUPPORTED_DEFINITIONS_FILE_EXTENSION", file_path=str(file))
                )
        return list(found)


def read_spec(path: str | None) -> Spec:
    """path: of the file; None: the one of the current directory, or of one around it. Raises Error."""
    there = _nearest() if path is None else Path(path)
    if there is not None and there.is_file():
        kept = read_entry(_key(there), "")
        if isinstance(kept, Said):
            return Spec(there, kept)
    with theirs():
        from pyspark.pipelines.cli import find_pipeline_spec, load_pipeline_spec  # noqa: PLC0415

        if path is not None and not Path(path).is_file():
            raise Error(said_by_spark("PIPELINE_SPEC_FILE_DOES_NOT_EXIST", spec_path=path))
        found = Path(path) if path is not None else find_pipeline_spec(Path.cwd())
        said = _loaded(load_pipeline_spec, found)
    write_entry(said, _key(found), "")
    return Spec(found, said)


def _nearest() -> Path | None:
    """None where only PySpark can say which it is, or what is wrong."""
    with suppress(PermissionError):
        for folder in (Path.cwd(), *Path.cwd().parents):
            found = [folder / name for name in _NAMES if (folder / name).is_file()]
            if found:
                return found[0] if len(found) == 1 else None
    return None


def _key(path: Path) -> Source:
    return as_it_is(f"{sources()} {path.read_bytes()!r}", "a spec of a pipeline")


def _loaded(load: Any, path: Path) -> Said:
    import yaml  # type: ignore[import-untyped]  # noqa: PLC0415  it comes with PySpark's pipelines

    try:
        read = load(path)
        return Said(
            *(str(read.name), str(read.storage), read.catalog, read.database),
            dict(read.configuration),
            tuple(library.include for library in read.libraries),
        )
    except yaml.YAMLError as error:
        raise Error(f"{path}: no YAML: {' '.join(str(error).split())}") from error
    except (TypeError, KeyError, AttributeError) as error:
        raise Error(
            f"{path}: no spec of a pipeline: {error}; `dbsp pipeline init --name x` writes one"
        ) from error


def write_project(name: str) -> None:
    """What `spark-pipelines init` writes. Raises Error."""
    with theirs(), redirect_stdout(io.StringIO()):  # it tells of its own command
        from pyspark.pipelines.init_cli import init  # noqa: PLC0415

        try:
            init(name)
        except OSError as error:
            raise Error(str(error)) from error


@contextmanager
def theirs() -> Iterator[None]:
    """What PySpark's pipelines raise is an Error, in their words."""
    for module in ("yaml", "grpc"):
        if importlib.util.find_spec(module) is None:
            raise Error(f"pipelines need {module}: pip install 'dbsp[pipelines]'")
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except PySparkException as error:
        raise Error(str(error).strip()) from error


def said_by_spark(error_class: str, **values: str) -> str:
    """PySpark's own message."""
    from pyspark.errors import PySparkException  # noqa: PLC0415

    return str(PySparkException(errorClass=error_class, messageParameters=values))
