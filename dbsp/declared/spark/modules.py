"""Definitions in Python: modules that run, and what they say, without a JVM.

PySpark's own decorators and its own registry make of a project's functions what they would send to a server
of Spark Connect: commands, with DataFrames as plans that aren't analysed. Here they are kept. So a project's
modules run once, whoever wants to know what they say.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

from dbsp.circuits.errors import ProgramError

# of each module in Python its commands
Modules = Mapping[Path, Sequence[Any]]
_REMOTE = "SPARK_CONNECT_MODE_ENABLED"  # by which functions of columns know whose plans they make
_NO_SESSION = "NO_ACTIVE_OR_DEFAULT_SESSION"
_UDF = (
    "not supported yet: a definition that asks for a session of Spark while it is read, as @udf with its "
    "type as a text does; functions in Python can't be maintained: write it by pyspark.sql.functions"
)
# of a client, what would ask the server
_ASKING = ("_analyze", "_execute", "_execute_and_fetch", "_execute_and_fetch_as_iterator", "config")


def commands_of(file: Path, root: Path) -> list[Any]:
    """Run a module: PipelineCommands, in order, of no graph yet. Raises ProgramError."""
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
    with _remote() as session:
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
            said = _UDF if error.getCondition() == _NO_SESSION else str(error).strip()
            raise ProgramError(f"{_place(error, file, root)}: {said}") from error
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
    return f"{type(error).__name__}: {error}"


def modules_of(files: Iterable[Path], root: Path) -> Modules:
    """Of those files that are in Python. Raises ProgramError."""
    return {file: commands_of(file, root) for file in files if file.suffix == ".py"}


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


@contextmanager
def _remote() -> Iterator[Any]:
    """A session of Spark Connect without a server, which makes plans. Asked more, it raises ProgramError."""
    from pyspark.sql.connect.session import SparkSession as Connect  # noqa: PLC0415

    before = os.environ.get(_REMOTE)
    os.environ[_REMOTE] = "1"
    try:
        session = Connect("sc://localhost:1")
        for name in _ASKING:
            setattr(session.client, name, _asked)
        yield session
    finally:
        if before is None:
            del os.environ[_REMOTE]
        else:
            os.environ[_REMOTE] = before


def _asked(*_: object, **__: object) -> None:
    raise ProgramError(
        "not supported yet: a definition that asks Spark while it is read, as spark.sql(...), df.columns or "
        "df.collect() do; return a DataFrame that is made of spark.read, spark.table, and its methods"
    )


def digest_of(message: Any) -> str:
    """Of what it says, whatever numbers its parts have in this process, and whichever lines made them."""
    copied = type(message)()
    copied.CopyFrom(message)
    _renumber(copied, {})
    return hashlib.sha256(copied.SerializeToString(deterministic=True)).hexdigest()


def _renumber(message: Any, numbers: dict[int, int]) -> None:
    for descriptor, value in message.ListFields():
        if descriptor.name == "plan_id":
            message.plan_id = numbers.setdefault(value, len(numbers))
        elif descriptor.name == "origin":
            message.ClearField("origin")
        for one in messages_in(value):
            _renumber(one, numbers)


def messages_in(value: Any) -> list[Any]:
    """The messages that a field holds."""
    if hasattr(value, "ListFields"):
        return [value]
    if isinstance(value, (str, bytes, int, float)):
        return []
    # a container of several has no __iter__, though it can be iterated
    return [
        one for one in (value.values() if hasattr(value, "values") else value) if hasattr(one, "ListFields")
    ]
