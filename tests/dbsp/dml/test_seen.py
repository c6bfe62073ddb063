"""Each statement sees what those before it have changed; nobody else does."""

from __future__ import annotations

from typing import Any

from dbsp.dml.reading.statements import read_statement
from dbsp.dml.statement import Where
from tests.dbsp.build import pipeline


def test_a_statement_sees_those_before_it_and_nobody_else_does() -> None:
    with pipeline() as p:
        p.insert("votes", [(1, 1), (2, 1)])
        p.step()
        edits = p.edits()
        votes = p.program.input("votes")

        def run(statement: str) -> int:
            return edits.run(read_statement(statement, p.program))

        assert run("INSERT INTO votes VALUES (3, 7)") == 1
        assert edits.selected(votes, Where("", "user_id = 3", {"user_id": 3}), "").rows.to_pylist() == [
            row(3, 7)
        ]
        assert run("DELETE FROM votes WHERE user_id = 1") == 1
        for i in range(40):  # more than are kept apart
            assert run(f"INSERT INTO votes VALUES ({10 + i}, NULL)") == 1
        assert edits.contents("votes").first(2).to_pylist() == [row(2, 1), row(3, 7)]
        assert len(edits.contents("votes")) == 42
        assert [len(found) for found in edits.having(votes, {"story_id": None})] == [0, 40]
        assert (len(edits.again().contents("votes")), len(p["all_votes"])) == (2, 2)
        wanted = edits.having(votes, {"user_id": 2})[0]
        assert len(edits.like(votes, wanted, [0])) == 1
        assert len(edits.like(votes, edits.having(votes, {"user_id": 10})[1], [1])) == 40
        assert len(edits.like(votes, wanted, [])) == sum(map(len, edits.contents("votes").parts))
        assert len(edits.contents("counts")) == 1  # views are of the step


def row(user: int, story: int) -> dict[str, Any]:
    return {"user_id": user, "story_id": story}
