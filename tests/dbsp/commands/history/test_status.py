"""`dbsp status`: a state in lines, or as one JSON object."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.history.status import status_of
from tests.dbsp.targets.voting import dies_undelivered, feed, opened, voting


def lines(*arguments: object) -> list[str]:
    result = CliRunner().invoke(main, ["status", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output.splitlines()


def test_each_line_says_one_thing(tmp_path: Path) -> None:
    made = voting("sqlite", lambda name: {"path": f"{tmp_path}/x.db", "dbtable": name})
    with opened(made, tmp_path / "s") as p:
        assert lines(tmp_path / "s")[1] == "step     none yet"
        feed(p)
        p.step()
        assert lines(tmp_path / "s")[-1] == "sink     totals: has all steps"
        feed(p)
        dies_undelivered(p)
        found = lines(tmp_path / "s")
        assert found[0] == f"program  {made.name} ({made.fingerprint[:12]})"
        assert found[1].startswith("step     2, made 20")
        assert found[2:4] == ["kept     steps 1 to 2", "table    customer: fed"]
        assert "view     counts" in found
        assert found[-2:] == ["sink     log: lacks step 2", "sink     totals: lacks step 2"]


def test_as_json_it_is_all_of_it(tmp_path: Path) -> None:
    made = voting("sqlite", lambda name: {"path": f"{tmp_path}/x.db", "dbtable": name})
    with opened(made, tmp_path / "s") as p:
        feed(p)
        p.step()
    found = status_of(tmp_path / "s")
    (line,) = lines(tmp_path / "s", "--output", "json")
    assert found.made is not None
    expected = vars(found) | {"made": found.made.isoformat(), "kept": [1], "views": [*found.views]}
    assert json.loads(line) == expected
