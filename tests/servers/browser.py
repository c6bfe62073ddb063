"""A Chromium of a test's own, without a window."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.servers.missing import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skips where there is none, or nothing that drives it, unless it must be there."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("Chromium")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  tests are collected without it
    except ImportError:
        missing("Playwright")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program)
        try:
            yield browser
        finally:
            browser.close()
