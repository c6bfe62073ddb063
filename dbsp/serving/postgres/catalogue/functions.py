"""The functions of PostgreSQL's catalogue, as DuckDB's macros, as far as `\\d`, drivers and tools call them.

Source: PostgreSQL 17 documentation, chapter 9.
"""

from dbsp.serving.postgres.catalogue.tables import DATABASE, VERSION

_VISIBLE = (
    *("collation", "conversion", "function", "opclass", "operator", "opfamily", "statistics_obj", "table"),
    *("ts_config", "ts_dict", "ts_parser", "ts_template", "type"),
)
_PRIVILEGES = (
    *("any_column", "database", "foreign_data_wrapper", "function", "language", "parameter", "schema"),
    *("sequence", "server", "table", "tablespace", "type"),
)
# of what there is nothing to say: what they are called with
_TEXTS = {
    **dict.fromkeys(("pg_get_function_result", "pg_get_function_arguments", "pg_get_partkeydef"), "x"),
    **dict.fromkeys(("pg_get_function_identity_arguments", "pg_get_functiondef", "pg_size_pretty"), "x"),
    **dict.fromkeys(("pg_get_function_sqlbody", "pg_get_function_arg_default"), "x"),
    **dict.fromkeys(("pg_get_statisticsobjdef", "pg_get_statisticsobjdef_columns"), "x"),
    **dict.fromkeys(("pg_get_partition_constraintdef", "pg_tablespace_location"), "x"),
    **dict.fromkeys(("pg_get_ruledef", "pg_get_triggerdef"), "x, y := false"),
    **dict.fromkeys(("pg_get_serial_sequence", "col_description", "shobj_description"), "x, y"),
    **dict.fromkeys(("inet_client_addr", "inet_server_addr"), ""),
    "obj_description": "x, y := ''",
}
_NUMBERS = {
    **dict.fromkeys(("pg_table_size", "pg_total_relation_size", "pg_indexes_size", "pg_database_size"), "x"),
    **dict.fromkeys(("pg_tablespace_size", "pg_partition_ancestors", "pg_relation_filenode"), "x"),
    **dict.fromkeys(("inet_client_port", "inet_server_port"), ""),
    "pg_relation_size": "x, y := ''",
}
_MANY = "\n".join(
    [
        *(f"CREATE MACRO pg.pg_{one}_is_visible(x) AS true;" for one in _VISIBLE),
        *(f"CREATE MACRO pg.has_{one}_privilege(x, y, z := '') AS true;" for one in _PRIVILEGES),
        *(f"CREATE MACRO pg.{name}({given}) AS NULL::VARCHAR;" for name, given in _TEXTS.items()),
        *(f"CREATE MACRO pg.{name}({given}) AS NULL::BIGINT;" for name, given in _NUMBERS.items()),
    ]
)
FUNCTIONS = f"""{_MANY}
CREATE MACRO pg.version() AS 'PostgreSQL {VERSION} (dbsp)';
CREATE MACRO pg.current_database() AS '{DATABASE}';
CREATE MACRO pg.current_schema() AS 'public';
CREATE MACRO pg.current_schemas(x) AS ['public'];
CREATE MACRO pg.pg_get_userbyid(x) AS 'dbsp';
CREATE MACRO pg.pg_is_in_recovery() AS false;
CREATE MACRO pg.pg_is_other_temp_schema(x) AS false;
CREATE MACRO pg.pg_my_temp_schema() AS 0;
CREATE MACRO pg.pg_advisory_unlock_all() AS '';
CREATE MACRO pg.pg_export_snapshot() AS '';
CREATE MACRO pg.pg_char_to_encoding(x) AS CASE upper(x) WHEN 'UTF8' THEN 6 ELSE -1 END;
CREATE MACRO pg.pg_backend_pid() AS 1;
CREATE MACRO pg.pg_encoding_to_char(x) AS 'UTF8';
CREATE MACRO pg.getdatabaseencoding() AS 'UTF8';
CREATE MACRO pg.said_of(number, column_number) AS (
  SELECT said FROM pg.definitions said_ WHERE said_.oid = number AND said_.place = column_number);
CREATE MACRO pg.pg_get_viewdef(x, y := false) AS pg.said_of(x, 0);
CREATE MACRO pg.pg_get_constraintdef(x, y := false) AS pg.said_of(x, 0);
CREATE MACRO pg.pg_get_indexdef(x, y := 0, z := false) AS pg.said_of(x, y);
CREATE MACRO pg.pg_get_expr(x, y, z := false) AS x;
CREATE MACRO pg.pg_relation_is_publishable(x) AS false;
CREATE MACRO pg.has_column_privilege(x, y, z, w := '') AS true;
CREATE MACRO pg.pg_has_role(x, y, z := '') AS true;
CREATE MACRO pg.quote_ident(x) AS CASE WHEN regexp_full_match(x, '[a-z_][a-z0-9_$]*') THEN x
  ELSE '"' || replace(x, '"', '""') || '"' END;
CREATE MACRO pg.quote_literal(x) AS '''' || replace(x, '''', '''''') || '''';
CREATE MACRO pg.array_upper(x, n) AS len(x);
CREATE MACRO pg.array_lower(x, n) AS CASE WHEN len(x) > 0 THEN 1 END;
CREATE MACRO pg.array_remove(x, y) AS list_filter(x, lambda i: i IS DISTINCT FROM y);
CREATE MACRO pg.string_to_array(x, y) AS TABLE SELECT str_split(x, y) AS s;
CREATE MACRO pg._pg_expandarray(a) AS
  unnest(list_transform(range(1, len(a) + 1), lambda i: {{'x': a[i], 'n': i}}));
CREATE MACRO pg.format_type(number, size) AS (
  SELECT shown || CASE WHEN number = 1700 AND size > 4
    THEN '(' || ((size - 4) >> 16)::VARCHAR || ',' || ((size - 4) & 65535)::VARCHAR || ')' ELSE '' END
  FROM pg.shown_types WHERE oid = number);
CREATE MACRO pg.to_regclass(asked) AS (
  SELECT oid FROM pg.pg_class
  WHERE relname = regexp_replace(replace(asked, '"', ''), '^(dbsp *\\. *)?(public|pg_catalog) *\\. *', ''));
CREATE MACRO pg.to_regtype(asked) AS (
  SELECT oid FROM pg.shown_types WHERE shown = asked OR typname = asked);
CREATE MACRO pg.to_regproc(asked) AS (SELECT oid FROM pg.pg_proc WHERE proname = asked);
CREATE MACRO pg.proc_named(number) AS (
  SELECT CASE WHEN number = 0 THEN '-' ELSE (SELECT proname FROM pg.pg_proc p_ WHERE p_.oid = number) END);
CREATE MACRO pg.pg_get_keywords() AS TABLE
  SELECT DISTINCT keyword_name AS word, upper(keyword_category[1]) AS catcode, keyword_category AS catdesc
  FROM duckdb_keywords();
CREATE MACRO pg.pg_partition_tree(x) AS TABLE
  SELECT NULL::BIGINT AS relid, NULL::BIGINT AS parentrelid, true AS isleaf, 0 AS level WHERE false;
CREATE MACRO pg.pg_options_to_table(x) AS TABLE
  SELECT NULL::VARCHAR AS option_name, NULL::VARCHAR AS option_value WHERE false;
CREATE MACRO pg.current_setting(asked, missing := false) AS (
  SELECT setting FROM pg.pg_settings set_ WHERE set_.name = lower(asked));
"""
