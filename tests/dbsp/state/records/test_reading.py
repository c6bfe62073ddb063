"""What a step's record says of how tables were read: a table that is read again as a stream is known."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dbsp.sql.compiler.load import load_program
from dbsp.state.records.reading import Reading, streams_of

FED, STREAM, OTHER, COMPARED, GONE = "fed", "stream", "other", "compared", "gone"
USING = {
    FED: "",
    STREAM: " USING JSON OPTIONS (path 'd')",
    OTHER: " USING csv OPTIONS (path 'd')",
    COMPARED: " USING json OPTIONS (path 'd') WITH (snapshot = 'every step')",
}
FORMATS = {STREAM: "json", OTHER: "csv"}
TABLES = {"t": st.sampled_from([*USING, GONE]), "u": st.sampled_from([*USING, GONE])}


def program(how):
    tables = [f"CREATE TABLE {name} (id INT){USING[how[name]]};" for name in how if how[name] != GONE]
    return load_program(
        "\n".join(["CREATE TABLE z (id INT);", *tables, "CREATE VIEW v AS SELECT id FROM z;"])
    )


def test_streams_are_in_the_order_of_their_places():
    assert [*streams_of(program({"u": STREAM, "t": OTHER})).items()] == [("u", "json"), ("t", "csv")]
    assert streams_of(program({"u": COMPARED, "t": FED})) == {}


@given(st.lists(st.tuples(st.fixed_dictionaries(TABLES), st.booleans()), min_size=1, max_size=5))
def test_a_source_that_gave_rows_otherwise_is_known(steps):
    """Until the table is gone. A step of no batch leaves the places of streams as they are."""
    reading, places, left, compared = Reading(), {}, set(), set()
    for how, is_batch in steps:
        reading = Reading.from_json(reading.goes_on(program(how), is_batch).to_json())
        before = places
        if is_batch:
            places = {name: FORMATS[how[name]] for name in how if how[name] in FORMATS}
        there = {name for name in how if how[name] != GONE}
        left = ((left | before.keys()) - places.keys()) & there
        compared = ((compared - places.keys()) & there) | {name for name in how if how[name] == COMPARED}
        assert [*reading.streams.items()] == [*places.items()]
        assert (reading.left, reading.compared) == (left, compared)
