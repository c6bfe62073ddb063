"""Which files of a source are news."""

from __future__ import annotations

from dbsp.declared.project.surroundings import News, news

SEEN, AGAIN = [10, 1], [10, 2]


def test_files_that_are_there_more_are_new():
    assert news({"a": SEEN, "b": SEEN}, False, {"a": SEEN}) == News({"a": SEEN, "b": SEEN}, ["b"], False)
    assert news({"a": SEEN}, False, {"a": SEEN}) == News({"a": SEEN}, [], False)


def test_a_file_that_is_another_or_gone_has_all_compared():
    assert news({"a": AGAIN}, False, {"a": SEEN}) == News({"a": AGAIN}, ["a"], True)
    assert news({"b": SEEN}, False, {"a": SEEN}) == News({"b": SEEN}, ["b"], True)
    assert news({"a": SEEN}, False, None) == News({"a": SEEN}, ["a"], True)


def test_a_stream_reads_each_name_once():
    assert news({"a": AGAIN, "c": SEEN}, True, {"a": SEEN, "b": SEEN}) == News(
        {"a": SEEN, "b": SEEN, "c": SEEN}, ["c"], False
    )
