"""The reference of SQL says what the compiler knows."""

from __future__ import annotations

from dbsp.docs.site import OWN
from dbsp.docs.sql_reference import sql_reference
from dbsp.sql.compiler.targets.formats import FORMATS
from dbsp.sql.text.statements.create_table import PROPERTIES

TEXT = sql_reference(*((OWN / "guides" / name).read_text() for name in ("limits.md", "spark-files.md")))


def test_statements_properties_and_formats_are_there():
    for known in ("- `CREATE TABLE`", "- `CREATE STREAMING TABLE`", "- `INSERT INTO`", "- `SET`"):
        assert f"\n{known}\n" in TEXT
    for name in PROPERTIES:
        assert f"\n| `{name}` | " in TEXT
    for name in FORMATS:
        assert TEXT.count(f"\n| `{name}` | ") == 1
    assert "| `postgres` | `url`, `dbtable` | exactly once" in TEXT


def test_what_docstrings_list_is_there():
    assert "\nTUMBLE(ts, length[, align])             window(ts, length" in TEXT
    assert "\nTRIGGER COUNTING n | AFTER DELAY d" in TEXT
    assert "\nINTERVAL DAY..SECOND → duration(us)" in TEXT
    assert "\nADVANCE visit.at TO TIMESTAMP" in TEXT


def test_what_is_refused_is_there():
    assert "\nRefused, with an error that says so:\n" in TEXT
    assert "generated: registry" not in TEXT
