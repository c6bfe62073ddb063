"""What is known of columns' names."""

from __future__ import annotations

import pytest

from dbsp.declared.logs.changed import Lost
from dbsp.declared.logs.mapping import check_names, seen_names


def test_columns_may_come():
    before = seen_names({"a": "x", "b": "y"})
    check_names({"b": "y", "a": "x", "c": "z"}, before)
    check_names({}, [])
    check_names({"a": "a"}, [])


@pytest.mark.parametrize("now", [{}, {"a": "x"}, {"a": "y", "b": "x"}, {"a": "x", "c": "y"}])
def test_others_are_lost(now):
    with pytest.raises(Lost, match="columns were renamed or dropped"):
        check_names(now, seen_names({"a": "x", "b": "y"}))


def test_a_table_that_had_none():
    with pytest.raises(Lost):
        check_names({"a": "a", "b": "x"}, [])
