"""Which files of a source are news."""

from __future__ import annotations

from dbsp.declared.project.surroundings import News, news

SEEN, AGAIN = [10, 1], [10, 2]


def test_files_that_are_there_more_are_new():
    both = {"a": SEEN, "b": SEEN}
    assert news(both, False, {"a": SEEN}) == News(both, ["b"], whole=False, lost=False)
    assert news({"a": SEEN}, False, {"a": SEEN}) == News({"a": SEEN}, [], whole=False, lost=False)


def test_a_file_that_is_another_or_gone_has_all_compared():
    assert news({"a": AGAIN}, False, {"a": SEEN}) == News({"a": AGAIN}, ["a"], whole=True, lost=True)
    assert news({"b": SEEN}, False, {"a": SEEN}) == News({"b": SEEN}, ["b"], whole=True, lost=True)
    assert news({"a": SEEN}, False, None) == News({"a": SEEN}, ["a"], whole=True, lost=False)


def test_a_stream_reads_each_name_once():
    found = news({"a": AGAIN, "c": SEEN}, True, {"a": SEEN, "b": SEEN})
    assert found == News({"a": SEEN, "b": SEEN, "c": SEEN}, ["c"], whole=False, lost=True)


def test_what_has_arrived_is_read_when_it_is_asked_for():
    appended = news({"a": SEEN, "b": SEEN}, False, {"a": SEEN}).arrived(list)
    assert (appended.how, appended.rows(), appended.lost) == ("appended", ["b"], False)
    compared = news({"b": SEEN}, False, {"a": SEEN}).arrived(list)
    assert (compared.how, compared.rows(), compared.lost) == ("compared", ["b"], True)
    unchanged = news({"a": AGAIN}, True, {"a": SEEN}).arrived(list)
    assert (unchanged.how, unchanged.rows, unchanged.lost) == ("unchanged", None, True)
