"""HANDLER 'package.module.function': a function of a module that Python can import.

A module is looked for beside the program first. One that is there need not be anywhere else: it is loaded
anew for every program, goes to the tasks by its code, with the modules beside the program that it imports,
and is part of the program's identity. Any other is imported as Python does, on every machine.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from dbsp.circuits.errors import did_you_mean
from dbsp.sql.compiler.functions.code_identity import identity_of
from dbsp.sql.text.source import Source

_DOTTED = re.compile(r"\bHANDLER\s*=?\s*(['\"])((?:\w+\.)+\w+)\1", re.IGNORECASE)


class NoHandler(Exception):
    """What is wrong with it, to follow the function's name."""


@dataclass(frozen=True)
class Handler:
    """identity: as of `identity_of`. code: pickled, by its own code if it stands beside the program."""

    identity: str
    code: bytes


def handler_identities(source: Source) -> Iterator[str]:
    """Of all modules' functions that a program names: what its text doesn't say of them."""
    for match in _DOTTED.finditer(source.text):
        try:
            yield load_handler(match[2], source).identity
        except NoHandler as problem:
            yield str(problem)


def load_handler(dotted: str, source: Source) -> Handler:
    """Raises NoHandler."""
    module, _, name = dotted.rpartition(".")
    if not module or not all(part.isidentifier() for part in dotted.split(".")):
        raise NoHandler(
            f"HANDLER '{dotted}' names no module's function: write 'module.function', or the text that "
            "defines it, AS $$ ... $$"
        )
    beside = Path(source.name).absolute().parent
    with _importing(module, beside) as new:
        run = _function(_imported(module, beside), module, name)
        from pyspark import cloudpickle  # noqa: PLC0415  who declares no function doesn't pay for it

        own = [loaded for loaded in new() if _is_beside(loaded, beside)]
        for loaded in own:
            cloudpickle.register_pickle_by_value(loaded)
        try:
            packages = frozenset(loaded.__name__.split(".")[0] for loaded in own)
            return Handler(identity_of(dotted, run, packages), cloudpickle.dumps(run))
        finally:
            for loaded in own:
                cloudpickle.unregister_pickle_by_value(loaded)


@contextmanager
def _importing(module: str, beside: Path) -> Iterator[Callable[[], list[ModuleType]]]:
    """Modules beside the program can be imported; gives those imported within, which are then forgotten."""
    package = module.split(".", maxsplit=1)[0]
    found = importlib.machinery.PathFinder.find_spec(package, [str(beside)]) is not None
    ours = [name for name in sys.modules if found and name.split(".")[0] == package]
    kept = {name: sys.modules.pop(name) for name in ours}
    before = set(sys.modules)

    def new() -> list[ModuleType]:
        return [loaded for name, loaded in list(sys.modules.items()) if name not in before]

    sys.path.insert(0, str(beside))
    importlib.invalidate_caches()
    try:
        yield new
    finally:
        sys.path.remove(str(beside))
        for loaded in new():
            if _is_beside(loaded, beside):
                sys.modules.pop(loaded.__name__, None)
        sys.modules.update(kept)


def _is_beside(module: ModuleType, directory: Path) -> bool:
    file = getattr(module, "__file__", None)
    if file is None or Path(file).is_relative_to(sys.prefix):
        return False
    return Path(file).is_relative_to(directory)


def _imported(module: str, beside: Path) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise NoHandler(
                f"there is no module '{error.name}', neither beside the program in {beside} nor where Python "
                "looks for modules (PYTHONPATH)"
            ) from None
        raise NoHandler(f"importing '{module}' fails: {error!r}") from None
    except Exception as error:  # what its top level raises
        raise NoHandler(f"importing '{module}' fails: {error!r}") from None


def _function(module: ModuleType, dotted: str, name: str) -> Callable[..., Any]:
    run = getattr(module, name, None)
    if callable(run):
        return run  # type: ignore[no-any-return]
    if run is not None:
        raise NoHandler(f"'{dotted}.{name}' is a {type(run).__name__} and can't be called")
    own = [
        n for n, value in vars(module).items() if getattr(value, "__module__", None) == dotted and n[0] != "_"
    ]
    listed = ", ".join(own) or "no functions"
    raise NoHandler(f"module '{dotted}' has no '{name}'; it has: {listed}{did_you_mean(name, own)}")
