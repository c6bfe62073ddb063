"""MERGE as it is read: clause by clause, expressions whole, mistakes at their places."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.dml.reading.statements import read_statement
from dbsp.dml.statement import Merge, When
from tests.dbsp.build import votes_program


def read(text: str) -> Merge:
    found = read_statement(text, votes_program())
    assert isinstance(found, Merge)
    return found


def test_clauses_keep_their_expressions() -> None:
    merge = read(
        "MERGE INTO votes v USING (SELECT user_id, max(story_id) AS m FROM event GROUP BY 1) AS s "
        "ON v.user_id = s.user_id "
        "WHEN MATCHED AND CASE WHEN m > 1 THEN true ELSE false END "
        "THEN UPDATE SET v.story_id = CASE WHEN m > 2 THEN 0 ELSE greatest(m, 1) END, user_id = 7 "
        "WHEN MATCHED THEN DELETE "
        "WHEN NOT MATCHED BY TARGET AND m > 0 THEN INSERT (story_id, user_id) VALUES (m + 1, (1)) "
        "WHEN NOT MATCHED BY SOURCE THEN DELETE"
    )
    assert (merge.table.name, merge.name, merge.on) == ("votes", "v", "v.user_id = s.user_id")
    assert merge.source.endswith("GROUP BY 1) AS `s`")
    assert merge.clauses == (
        When(
            "matched",
            "CASE WHEN m > 1 THEN true ELSE false END",
            {"story_id": "CASE WHEN m > 2 THEN 0 ELSE greatest(m, 1) END", "user_id": "7"},
        ),
        When("matched", "", None),
        When("source", "m > 0", {"story_id": "m + 1", "user_id": "(1)"}),
        When("target", "", None),
    )


def test_all_columns_are_the_sources() -> None:
    merge = read(
        "MERGE INTO votes USING event e ON user_id = id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )
    texts = {"user_id": "`e`.`user_id`", "story_id": "`e`.`story_id`"}
    assert [clause.texts for clause in merge.clauses] == [texts, texts]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("USING (SELECT 1 AS x) ON x = user_id", "the query has no name; write USING (SELECT ...) AS s"),
        ("USING event e ON x = user_id", "MERGE does nothing; add WHEN MATCHED THEN"),
        ("USING e ON x = 1 WHEN MATCHED THEN INSERT *", "expected UPDATE, found 'INSERT'"),
        ("USING e ON x = 1 WHEN NOT MATCHED THEN DELETE", "expected INSERT, found 'DELETE'"),
        (
            "USING e ON x = 1 WHEN MATCHED THEN UPDATE SET y = 1",
            "unknown column 'y' in 'votes'",
        ),
        (
            "USING e ON x = 1 WHEN MATCHED THEN UPDATE SET user_id = 1, user_id = 2",
            "'user_id' is set twice",
        ),
        (
            "USING e ON x = 1 WHEN NOT MATCHED THEN INSERT (user_id) VALUES (1, 2)",
            "2 values for 1 columns",
        ),
        (
            "v USING e ON x = 1 WHEN MATCHED THEN UPDATE SET e.user_id = 1",
            "'e' isn't what changes, which is v; set a column of it",
        ),
        (
            "USING e ON x = 1 WHEN NOT MATCHED THEN INSERT (user_id, User_Id) VALUES (1, 2)",
            "column 'user_id' is listed twice",
        ),
        ("USING event e ON WHEN MATCHED THEN DELETE", "ON what?"),
    ],
)
def test_what_is_wrong_is_said(text: str, error: str) -> None:
    with pytest.raises(ProgramError) as raised:
        read(f"MERGE INTO votes {text}")
    assert error in str(raised.value)


def test_what_is_done_may_be_nothing_and_a_value_the_default() -> None:
    merge = read(
        "MERGE INTO votes USING (VALUES (1, 2)) AS s(a, b) ON user_id = s.a "
        "WHEN MATCHED AND s.b > 1 THEN DO NOTHING WHEN MATCHED THEN UPDATE SET story_id = DEFAULT "
        "WHEN NOT MATCHED THEN INSERT VALUES (s.a, default)"
    )
    assert merge.source == "(VALUES (1, 2)) AS `s`(a, b)"
    assert merge.clauses == (
        When("matched", "s.b > 1", None, stays=True),
        When("matched", "", {"story_id": "NULL"}),
        When("source", "", {"user_id": "s.a", "story_id": "NULL"}),
    )


def test_names_may_have_backticks() -> None:
    aliased = read("MERGE INTO votes USING event `e``e` ON TRUE WHEN MATCHED THEN UPDATE SET *")
    assert aliased.source == "event AS `e``e`"
    named = read("MERGE INTO votes USING `s``s` ON TRUE WHEN MATCHED THEN UPDATE SET *")
    for merge, name in ((aliased, "`e``e`"), (named, "`s``s`")):
        texts = {"user_id": f"{name}.`user_id`", "story_id": f"{name}.`story_id`"}
        assert [clause.texts for clause in merge.clauses] == [texts]
