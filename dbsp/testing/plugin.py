"""The plugin of pytest: `--dbsp-accept`, the fixture `dbsp_program`, paths relative to the test's file.

It is loaded wherever dbsp is installed, so that it imports nothing of weight before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbsp.testing.setting import SETTING

if TYPE_CHECKING:
    from dbsp.pipeline.pipeline import Pipeline


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("dbsp").addoption(
        "--dbsp-accept",
        action="store_true",
        help="write what assert_replay expects, instead of comparing with it",
    )


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """The setting of a file while it is imported, and of classes in it."""
    with _setting(collector):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """The setting of a test."""
    with _setting(item):
        return (yield)


@contextmanager
def _setting(node: pytest.Item | pytest.Collector) -> Iterator[None]:
    """Its folder, and whether files are accepted."""
    before = SETTING.folder, SETTING.accept
    SETTING.folder, SETTING.accept = node.path.parent, node.config.getoption("--dbsp-accept")
    try:
        yield
    finally:
        SETTING.folder, SETTING.accept = before


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for file in SETTING.accepted:
        terminalreporter.write_line(f"accepted {file}: read it")
    SETTING.accepted.clear()


@pytest.fixture
def dbsp_program() -> Iterator[Callable[..., Pipeline]]:
    """Make a pipeline of a program, in process and in a state of its own, which ends with the test.

    p = dbsp_program("orders.sql", DATA="data"): a file, relative to the test's, or a program's text; then the
    values of its `${NAME}`s, and functions=[...]. Sinks get nothing.
    """
    from dbsp.testing.programs import in_process, load  # noqa: PLC0415  see above

    with ExitStack() as opened:

        def make(
            program: str | Path,
            *,
            functions: Sequence[Any] = (),
            partitions: int | None = None,
            **define: str,
        ) -> Pipeline:
            return opened.enter_context(in_process(load(program, define, functions), partitions))

        yield make
