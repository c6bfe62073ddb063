"""The page is files, which ask nobody else for anything."""

from __future__ import annotations

import re

import pytest

from dbsp.serving.page.files import POLICY, page_files
from tests.dbsp.serving.served import served


def test_a_browser_gets_the_page_and_a_client_the_paths() -> None:
    with served() as (client, _):
        page = client.get("/", headers={"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["content-security-policy"] == POLICY
        assert page.text.startswith("<!doctype html>")
        for accept in ("*/*", "application/json"):
            answer = client.get("/", headers={"Accept": accept})
            assert answer.json()["paths"]["/status"] == ["GET"]
            assert answer.headers["vary"] == "Accept"


def test_what_the_page_names_is_there() -> None:
    with served() as (client, _):
        for name in page_files():
            text = client.get(f"/page/{name}")
            assert text.status_code == 200
            assert text.headers["x-content-type-options"] == "nosniff"
            for other in re.findall(r'(?:src|href)="page/([^"]+)"|from "\./([^"]+)"', text.text):
                assert client.get(f"/page/{''.join(other)}").status_code == 200, (name, other)
        assert client.get("/page/nothing.js").status_code == 404
        assert client.get("/page/..%2Ffiles.py").status_code == 404


def test_only_this_server_may_be_asked_and_only_files_may_run() -> None:
    rules = dict(rule.split(" ", 1) for rule in POLICY.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert {rules[kind] for kind in ("script-src", "style-src", "connect-src")} == {"'self'"}


@pytest.mark.parametrize("name", sorted(page_files()))
def test_no_file_makes_markup_of_text(name: str) -> None:
    text = page_files()[name].decode()
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text
    )
    assert not re.search(r"\sstyle=|<style|<script(?! type=\"module\" src=)|\son\w+=\"|javascript:", text)
    assert set(re.findall(r"https?://[^\"'\s]+", text)) <= {"http://www.w3.org/2000/svg"}
