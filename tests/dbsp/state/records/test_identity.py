"""Whose directory it is: another program's, another format's, a stranger's."""

from __future__ import annotations

import json
import os

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.records.identity import FORMAT
from dbsp.state.records.sealed import seal
from dbsp.state.store import Store
from tests.dbsp.state.stores import IDENTITY, filled


@pytest.mark.parametrize(
    ("number", "said"),
    [(1, "older dbsp .format 1.*feed a new state directory"), (FORMAT + 1, "newer dbsp .*upgrade")],
)
def test_another_format_is_refused(tmp_path, number, said):
    filled(tmp_path, 1).close()
    record = {"format": number, "program": "program.sql"}
    content = json.dumps(record, indent=1).encode() if number == 1 else seal("state of", record)
    (tmp_path / "program.json").write_bytes(content)
    with pytest.raises(StateError, match=said):
        Store.open(tmp_path, IDENTITY)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "x"}', "\0"])
def test_a_strange_program_json_is_refused(tmp_path, content):
    (tmp_path / "program.json").write_text(content)
    with pytest.raises(
        StateError, match=r"program\.json: damaged: .*; restore it from a backup, or delete it"
    ):
        Store.open(tmp_path, IDENTITY)


def test_somebody_else_s_directory_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(StateError, match=r"is no state directory \(it holds 'thesis.tex'"):
        Store.open(tmp_path, IDENTITY)
    assert os.listdir(tmp_path) == ["thesis.tex"]
    with pytest.raises(StateError, match="is a file"):
        Store.open(tmp_path / "thesis.tex", IDENTITY)
