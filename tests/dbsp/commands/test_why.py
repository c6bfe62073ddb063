"""`dbsp why`: keys in words, of a state that somebody else writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dbsp.circuits.errors import DataError
from dbsp.commands.cli import main
from dbsp.commands.why import key_of
from tests.dbsp.build import pipeline
from tests.dbsp.lineage.programs import shops


def test_words_are_a_key_or_columns() -> None:
    with pipeline() as p:
        counts, votes = p["counts"], p["all_votes"]
        assert key_of(p.program, counts, ["7"]) == {"story_id": 7}
        assert key_of(p.program, counts, ["n=7", "STORY_ID=1"]) == {"n": 7, "STORY_ID": 1}
        with pytest.raises(DataError, match=r"the key \(story_id\), and '7 8' are no values of that"):
            key_of(p.program, counts, ["7", "8"])
        with pytest.raises(DataError, match=r"no column 'nn'; .* story_id=nn=\.\.\.; did you"):
            key_of(p.program, counts, ["nn=7"])
        customers = p["customers"]
        assert key_of(p.program, customers, ["name=a=b"]) == {"name": "a=b"}
        with pytest.raises(DataError, match=r"'all_votes' has no key, and '7' .* user_id=\.\.\."):
            key_of(p.program, votes, ["7"])


def dbsp(*arguments: str) -> Any:
    return CliRunner().invoke(main, arguments)


@pytest.mark.spark
def test_of_a_state_directory(tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    with shops(Path(state)):
        beside = dbsp("why", state, "turnover", "Ada")
        assert beside.exit_code == 0, beside.output
    lines = dbsp("why", state, "turnover", "Ada").stdout.splitlines()
    assert lines[0] == 'turnover where name = "Ada", as of step 2; last changed by step 1'
    assert lines[-2:] == ["step 1 changed shop", '| +1 {"id": 1, "name": "Ada"}']
    said = json.loads(dbsp("why", state, "turnover", "name=Bo", "--as-of", "1", "--output", "json").stdout)
    assert (said["step"], said["rows"]) == (1, [{"name": "Bo", "total": 96, "n": 4}])
    for words, wrong in (
        (["turnovr", "Ada"], "unknown view 'turnovr'"),
        (["big", "x"], "id=x doesn't fit BIGINT"),
        (["turnover", "Ada", "--as-of", "9"], "step 9"),
        (["turnover", "nam=Ada", "n=1"], "has no column 'nam'"),
    ):
        result = dbsp("why", state, *words)
        assert result.exit_code == 1 and wrong in result.stderr, result.stderr
