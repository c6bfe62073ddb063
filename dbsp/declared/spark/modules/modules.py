"""Definitions in Python: modules that run, and what they say, without a JVM.

PySpark's own decorators and its own registry make of a project's functions what they would send to a server
of Spark Connect: commands, with DataFrames as plans that aren't analysed. Here they are kept. So a project's
modules run once, whoever wants to know what they say.
"""

from __future__ import annotations

import importlib.util
import traceback
from collections.abc import Iterable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, MappingProxyType
from typing import Any

from dbsp.circuits.errors import ProgramError
from dbsp.declared.spark.modules.planning import planning

# of each module in Python its commands
Modules = Mapping[Path, Sequence[Any]]


def commands_of(file: Path, root: Path, configuration: Mapping[str, str] = MappingProxyType({})) -> list[Any]:
    """Run a module: PipelineCommands, in order, of no graph yet. Raises ProgramError.

    configuration: what `spark.conf` knows there.
    """
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.pipelines.block_session_mutations import block_session_mutations  # noqa: PLC0415
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context  # noqa: PLC0415
    from pyspark.pipelines.spark_connect_graph_element_registry import (  # noqa: PLC0415
        SparkConnectGraphElementRegistry,
    )

    specified = importlib.util.spec_from_file_location(file.stem, file, loader=_Written(file.stem, str(file)))
    assert specified is not None
    assert specified.loader is not None
    module = importlib.util.module_from_spec(specified)
    with planning(configuration) as session:
        module.__dict__["spark"] = session
        registry = SparkConnectGraphElementRegistry(session, "")
        registry._client = client = _Client(registry._client)
        try:
            # a module's paths are of the spec's directory, whoever runs it from where
            with chdir(root), graph_element_registration_context(registry), block_session_mutations():
                specified.loader.exec_module(module)
        except ProgramError as error:
            raise ProgramError(f"{_place(error, file, root)}: {error}") from error
        except PySparkException as error:
            raise ProgramError(f"{_place(error, file, root)}: {str(error).strip()}") from error
        except Exception as error:  # the author's own code
            raise ProgramError(f"{_place(error, file, root)}: {_said(error)}") from error
    return client.commands


def _place(error: Exception, file: Path, root: Path) -> str:
    """Where in the module it came from."""
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(file)
    ]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    return f"{file.relative_to(root)}:{(lines or [1])[-1]}:1"


def _said(error: Exception) -> str:
    if isinstance(error, AttributeError) and error.name == "_plan":  # which PySpark takes of what it got
        given = "nothing" if error.obj is None else f"a {type(error.obj).__name__}"
        return f"the function of a dataset returns {given}; return a DataFrame"
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg}"
    if isinstance(error, TypeError) and str(error).startswith("bad argument type"):  # of a message's field
        return (
            "TypeError: an argument is none that PySpark takes: names, comments and targets are texts, and "
            "so are keys and values of table_properties, spark_conf and options"
        )
    return f"{type(error).__name__}: {error}"


def modules_of(files: Iterable[Path], root: Path, configuration: Mapping[str, str]) -> Modules:
    """Of those files that are in Python; configuration: see `commands_of`. Raises ProgramError."""
    return {file: commands_of(file, root, configuration) for file in files if file.suffix == ".py"}


class _Written(SourceFileLoader):
    """Compiles what is written: bytecode that is kept knows a file by its size and the second it is from."""

    def get_code(self, fullname: str) -> CodeType:
        code: CodeType = self.source_to_code(self.get_data(self.path), self.path)
        return code


@dataclass
class _Client:
    """The client of a session, but for what it would send."""

    client: Any
    commands: list[Any] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def execute_command(self, command: Any) -> None:
        """Kept."""
        self.commands.append(command.pipeline_command)
