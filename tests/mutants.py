"""Mutation testing: one small change of the code at a time, and do its own tests notice?

    python -m tests.mutants                            the files below
    python -m tests.mutants circuits/traces/spine.py   any others

Each mutant changes one comparison, operator, number or truth, or leaves out one negation or one
`if`. The tests are those of the mirrored file, as `make quick` runs them, in a child that has
imported all before. The code in the tree isn't written to. Prints the survivors; status 1 if there are any.
"""

from __future__ import annotations

import ast
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

import pytest

ROOT = Path(__file__).parents[1]
CENTRAL = (
    "circuits/traces/spine.py",
    "circuits/traces/batch.py",
    "circuits/traces/sorted_run.py",
    "circuits/columns/grouping.py",
    "circuits/columns/sorting.py",
)
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
OPTIONS += ["-m", "not spark and not slow", "--hypothesis-profile=minute", "--no-header", "--tb=no"]
LONGEST = 4  # times the tests as they are, and what goes on then is an endless loop

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in a node's place."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield ast.Compare(node.left, [COMPARISONS[type(node.ops[0])](), *node.ops[1:]], node.comparators)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        yield ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
    elif isinstance(node, ast.BoolOp):
        yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.IfExp):
        yield ast.IfExp(node.test, node.orelse, node.body)
    elif isinstance(node, ast.If) and not node.orelse:
        yield ast.If(ast.Constant(False), node.body, [])
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield ast.Constant(node.value + 1)


def mutants(text: str) -> Iterator[tuple[int, str, str, ast.Module]]:
    """(line, what it says, what the mutant says, the module), of every node within a function."""
    size = len(list(ast.walk(ast.parse(text))))
    for i in range(size):
        tree = ast.parse(text)
        inside = {
            id(n)
            for f in ast.walk(tree)
            if isinstance(f, ast.FunctionDef)
            for b in f.body
            for n in ast.walk(b)
        }
        node = list(ast.walk(tree))[i]
        if id(node) not in inside:
            continue
        for change in changes(node):
            _Replace(node, change).visit(tree)
            shown = [ast.unparse(n).splitlines()[0] for n in (node, change)]
            yield node.lineno, shown[0], shown[1], ast.fix_missing_locations(tree)  # type: ignore[attr-defined]


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return ast.copy_location(self.new, node) if node is self.old else self.generic_visit(node)


class _Mutated(SourceFileLoader):
    """Loads the code it is given in place of the file's."""

    code: CodeType

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class _Finder:
    def __init__(self, module: str, path: Path, code: CodeType) -> None:
        self.module, self.path, self.code = module, path, code

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name != self.module:
            return None
        loader = _Mutated(name, str(self.path))
        loader.code = self.code
        return spec_from_file_location(name, self.path, loader=loader)


def passes(file: str, tree: ast.Module, tests: Path, most: float | None = None) -> bool:
    """Whether the tests pass over that code, in a child. most: seconds it may take."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            os.setpgid(0, 0)
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            module = "dbsp." + file.removesuffix(".py").removeprefix("dbsp/").replace("/", ".")
            code = compile(tree, file, "exec")
            sys.meta_path.insert(0, _Finder(module, ROOT / file, code))  # type: ignore[arg-type]
            if most is not None:
                signal.setitimer(signal.ITIMER_REAL, most)
            os._exit(int(pytest.main([*OPTIONS, str(tests)])))
        os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def survivors(file: str) -> int:
    """Prints the mutants that the tests of the mirrored file don't notice; how many."""
    path = Path(file)
    tests = ROOT / "tests" / path.parent / f"test_{path.name}"
    text = (ROOT / file).read_text()
    begun = time.monotonic()
    if not tests.exists() or not passes(file, ast.parse(text), tests):
        raise SystemExit(f"{file}: {tests.relative_to(ROOT)} must be there and pass")
    most = LONGEST * (time.monotonic() - begun) + 5
    tried = left = 0
    for line, old, new, tree in mutants(text):
        tried += 1
        if passes(file, tree, tests, most):
            left += 1
            print(f"{file}:{line}: {old}  ->  {new}", flush=True)
    print(f"{file}: {tried} mutants, {left} survive", flush=True)
    return left


def main() -> None:
    # what no mutant changes is imported once
    import hypothesis.strategies  # noqa: F401, PLC0415
    import numpy  # noqa: F401, PLC0415
    import pyarrow.compute  # noqa: F401, PLC0415

    raise SystemExit(1 if sum([survivors(file) for file in sys.argv[1:] or CENTRAL]) else 0)


if __name__ == "__main__":
    main()
