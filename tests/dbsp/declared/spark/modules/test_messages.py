from __future__ import annotations

from dbsp.declared.spark.modules.messages import digest_of, messages_in, messages_of
from dbsp.declared.spark.modules.planning import planning


def relation():
    """Of a text in SQL that reads a DataFrame, which has another name each time."""
    with planning({}) as session:
        rows = session.sql("SELECT * FROM {a} JOIN {b} USING (k)", a=session.table("x"), b=session.table("y"))
        return rows._plan.to_proto(session.client).root


def test_what_is_said_has_one_digest():
    first, again = relation(), relation()
    assert first != again
    assert digest_of(first) == digest_of(again)
    (other,) = messages_of(again, "SQL")
    other.query = other.query.replace("(k)", "(l)")
    assert digest_of(first) != digest_of(again)


def test_messages_are_found_at_any_depth():
    found = relation()
    assert [read.named_table.unparsed_identifier for read in messages_of(found, "Read")] == ["x", "y"]
    assert len(list(messages_of(found, "SubqueryAlias"))) == 2
    assert messages_in(found) == [found]
    assert messages_in("text") == []
