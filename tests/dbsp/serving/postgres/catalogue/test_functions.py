"""Functions of the catalogue."""

from __future__ import annotations

import pytest

from dbsp.serving.postgres.catalogue.answering import Catalogue
from dbsp.serving.postgres.language.spelling import statements
from tests.dbsp.build import VOTES


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("quote_ident('plain'), quote_ident('Is it?'), quote_ident('a\"b')", ("plain", '"Is it?"', '"a""b"')),
        ("array_lower(ARRAY[7, 8], 1), array_upper(ARRAY[7, 8], 1)", (1, 2)),
        ("array_remove(ARRAY['a', NULL, 'b'], 'a')", ("{NULL,b}",)),
        ("pg_catalog.pg_char_to_encoding('utf8'), pg_encoding_to_char(6)", (6, "UTF8")),
        ("to_regclass('\"public\" . \"v\"') = to_regclass('dbsp.public.v'), to_regclass('w')", (True, None)),
        ("'int8recv'::regproc, to_regproc('none')", (2408, None)),
        ("current_setting('SEARCH_PATH'), current_setting('none', true)", ("public", None)),
        ("pg_advisory_unlock_all(), pg_export_snapshot()", ("", "")),
        ("has_table_privilege('v', 'SELECT'), has_column_privilege(1, 'v', 'a', 'SELECT')", (True, True)),
        ("count(*) > 100 FROM pg_catalog.pg_get_keywords()", (True,)),
    ],
)
def test_functions(asked: str, given: tuple[object, ...]) -> None:
    found = Catalogue({"v": VOTES}).answer(statements(f"SELECT {asked}")[0], [])
    assert tuple(column[0].as_py() for column in found.columns) == given
