"""Queries of the catalogue as DuckDB reads them."""

from __future__ import annotations

from dbsp.serving.postgres.catalogue.respelling import respelled
from dbsp.serving.postgres.language.parameters import Value
from dbsp.serving.postgres.language.spelling import statements


def _said(text: str, *values: Value) -> str:
    return " ".join(respelled(statements(text)[0], values).split())


def test_schemas_operators_and_casts() -> None:
    assert _said("SELECT pg_catalog.format_type(1, 2), pg_catalog.lower('x')") == (
        "SELECT pg.format_type(1, 2), lower('x')"
    )
    assert _said("SELECT 1 WHERE a OPERATOR(pg_catalog.~) '^(v)$' COLLATE pg_catalog.default") == (
        "SELECT 1 WHERE a ~ '^(v)$'"
    )
    assert _said("SELECT 'v'::regclass, c.oid::pg_catalog.regclass, a::name, b::text") == (
        "SELECT pg.to_regclass('v'), c.oid::BIGINT, a::VARCHAR, b::text"
    )
    assert _said("SELECT CAST(a AS REGCLASS), current_user") == (
        "SELECT CAST(a AS BIGINT), 'dbsp' AS current_user"
    )


def test_types_of_the_catalogue_are_cast_to() -> None:
    assert _said("SELECT CAST(a AS pg_catalog.text), CAST(b AS pg_catalog.oid), f(t.oid)") == (
        "SELECT CAST(a AS text), CAST(b AS BIGINT), f(t.oid)"
    )
    assert _said("SELECT a <> ALL('{x,y}'::text[]), t.typsend::text, '1'::int") == (
        "SELECT a <> ALL( ARRAY['x', 'y']::text[]), pg.proc_named( t.typsend), '1'::int"
    )


def test_settings_and_relations_of_rows() -> None:
    assert _said("SELECT current_setting('max_index_keys')::int, current_setting(a)") == (
        "SELECT '32'::int, current_setting(a)"
    )
    assert _said("SELECT d WHERE d.classoid = c.tableoid") == "SELECT d WHERE d.classoid = 0"


def test_values_stay_values() -> None:
    injected = Value(25, "x' OR '1' = '1")
    assert _said("SELECT $1, E'it\\'s'", injected) == "SELECT 'x'' OR ''1'' = ''1', 'it''s'"
    assert _said("SELECT ANY($1)", Value(1009, '{"a",b}')) == "SELECT ANY( ARRAY['a', 'b'])"
