"""The tables and functions of PostgreSQL's catalogue, as far as `\\d`, drivers and tools ask for them.

Source: PostgreSQL 17 documentation, chapters 9.27, 35 and 51.
"""

VERSION = "17.0"
DATABASE = "dbsp"
TABLES = {
    "pg_namespace": "oid BIGINT, nspname VARCHAR, nspowner BIGINT, nspacl VARCHAR",
    "pg_class": "oid BIGINT, relname VARCHAR, relnamespace BIGINT, reltype BIGINT, reloftype BIGINT, "
    "relowner BIGINT, relam BIGINT, relfilenode BIGINT, reltablespace BIGINT, relpages INT, "
    "reltuples FLOAT, reltoastrelid BIGINT, relhasindex BOOLEAN, relisshared BOOLEAN, "
    "relpersistence VARCHAR, relkind VARCHAR, relnatts SMALLINT, relchecks SMALLINT, relhasrules BOOLEAN, "
    "relhastriggers BOOLEAN, "
    "relhassubclass BOOLEAN, relrowsecurity BOOLEAN, relforcerowsecurity BOOLEAN, relispopulated BOOLEAN, "
    "relreplident VARCHAR, relispartition BOOLEAN, relhasoids BOOLEAN, reloptions VARCHAR[], relacl VARCHAR, "
    "relpartbound VARCHAR",
    "pg_attribute": "attrelid BIGINT, attname VARCHAR, atttypid BIGINT, attlen SMALLINT, attnum SMALLINT, "
    "attndims INT, atttypmod INT, attnotnull BOOLEAN, atthasdef BOOLEAN, attidentity VARCHAR, "
    "attgenerated VARCHAR, attisdropped BOOLEAN, attcollation BIGINT, attstattarget INT, attstorage VARCHAR, "
    "attcompression VARCHAR, attoptions VARCHAR[], attfdwoptions VARCHAR[], attacl VARCHAR",
    "pg_type": "oid BIGINT, typname VARCHAR, typnamespace BIGINT, typowner BIGINT, typlen SMALLINT, "
    "typtype VARCHAR, typcategory VARCHAR, typdelim VARCHAR, typrelid BIGINT, typelem BIGINT, "
    "typarray BIGINT, typbasetype BIGINT, typtypmod INT, typnotnull BOOLEAN, typndims INT, "
    "typcollation BIGINT, typdefault VARCHAR, typinput BIGINT, typoutput BIGINT, typreceive BIGINT, "
    "typsend BIGINT",
    "pg_database": "oid BIGINT, datname VARCHAR, datdba BIGINT, encoding INT, datistemplate BOOLEAN, "
    "datallowconn BOOLEAN, datconnlimit INT, dattablespace BIGINT, datcollate VARCHAR, datctype VARCHAR, "
    "datlocprovider VARCHAR, daticulocale VARCHAR, datlocale VARCHAR, daticurules VARCHAR, datacl VARCHAR[]",
    "pg_roles": "oid BIGINT, rolname VARCHAR, rolsuper BOOLEAN, rolinherit BOOLEAN, rolcreaterole BOOLEAN, "
    "rolcreatedb BOOLEAN, rolcanlogin BOOLEAN, rolreplication BOOLEAN, rolconnlimit INT, "
    "rolvaliduntil TIMESTAMP, rolbypassrls BOOLEAN",
    "pg_am": "oid BIGINT, amname VARCHAR, amtype VARCHAR",
    "pg_auth_members": "roleid BIGINT, member BIGINT, grantor BIGINT, admin_option BOOLEAN",
    "pg_attrdef": "oid BIGINT, adrelid BIGINT, adnum SMALLINT, adbin VARCHAR",
    "pg_collation": "oid BIGINT, collname VARCHAR, collnamespace BIGINT",
    "pg_constraint": "oid BIGINT, conname VARCHAR, connamespace BIGINT, contype VARCHAR, "
    "condeferrable BOOLEAN, condeferred BOOLEAN, convalidated BOOLEAN, conrelid BIGINT, "
    "contypid BIGINT, conindid BIGINT, "
    "conparentid BIGINT, confrelid BIGINT, confupdtype VARCHAR, confdeltype VARCHAR, confmatchtype VARCHAR, "
    "conkey SMALLINT[], confkey SMALLINT[], connoinherit BOOLEAN, conbin VARCHAR",
    "pg_depend": "classid BIGINT, objid BIGINT, objsubid INT, refclassid BIGINT, refobjid BIGINT, "
    "refobjsubid INT, deptype VARCHAR",
    "pg_description": "objoid BIGINT, classoid BIGINT, objsubid INT, description VARCHAR",
    "pg_enum": "oid BIGINT, enumtypid BIGINT, enumsortorder FLOAT, enumlabel VARCHAR",
    "pg_extension": "oid BIGINT, extname VARCHAR, extnamespace BIGINT, extversion VARCHAR",
    "pg_foreign_server": "oid BIGINT, srvname VARCHAR",
    "pg_foreign_table": "ftrelid BIGINT, ftserver BIGINT, ftoptions VARCHAR[]",
    "pg_index": "indexrelid BIGINT, indrelid BIGINT, indnatts SMALLINT, indnkeyatts SMALLINT, "
    "indisunique BOOLEAN, indisprimary BOOLEAN, indisexclusion BOOLEAN, indimmediate BOOLEAN, "
    "indisclustered BOOLEAN, indisvalid BOOLEAN, indisreplident BOOLEAN, indkey SMALLINT[], "
    "indoption SMALLINT[], indexprs VARCHAR, indpred VARCHAR, indclass BIGINT[], indcollation BIGINT[], "
    "indnullsnotdistinct BOOLEAN",
    "pg_inherits": "inhrelid BIGINT, inhparent BIGINT, inhseqno INT, inhdetachpending BOOLEAN",
    "pg_language": "oid BIGINT, lanname VARCHAR",
    "pg_opclass": "oid BIGINT, opcname VARCHAR, opcdefault BOOLEAN",
    "pg_partitioned_table": "partrelid BIGINT, partstrat VARCHAR, partnatts SMALLINT, partattrs SMALLINT[]",
    "pg_policy": "oid BIGINT, polname VARCHAR, polrelid BIGINT, polcmd VARCHAR, polpermissive BOOLEAN, "
    "polroles BIGINT[], polqual VARCHAR, polwithcheck VARCHAR",
    "pg_proc": "oid BIGINT, proname VARCHAR, pronamespace BIGINT, proowner BIGINT, prokind VARCHAR, "
    "prorettype BIGINT, proargtypes BIGINT[]",
    "pg_publication": "oid BIGINT, pubname VARCHAR, puballtables BOOLEAN",
    "pg_publication_namespace": "oid BIGINT, pnpubid BIGINT, pnnspid BIGINT",
    "pg_publication_rel": "oid BIGINT, prpubid BIGINT, prrelid BIGINT, prqual VARCHAR, prattrs SMALLINT[]",
    "pg_range": "rngtypid BIGINT, rngsubtype BIGINT, rngmultitypid BIGINT",
    "pg_rewrite": "oid BIGINT, rulename VARCHAR, ev_class BIGINT, ev_type VARCHAR, ev_enabled VARCHAR",
    "pg_sequence": "seqrelid BIGINT, seqtypid BIGINT, seqstart BIGINT, seqincrement BIGINT, "
    "seqmin BIGINT, seqmax BIGINT, seqcache BIGINT, seqcycle BOOLEAN",
    "pg_settings": "name VARCHAR, setting VARCHAR, unit VARCHAR, category VARCHAR, source VARCHAR",
    "pg_statistic_ext": "oid BIGINT, stxrelid BIGINT, stxname VARCHAR, stxnamespace BIGINT, "
    "stxkind VARCHAR[], stxstattarget INT, stxkeys SMALLINT[]",
    "pg_tablespace": "oid BIGINT, spcname VARCHAR",
    "pg_trigger": "oid BIGINT, tgrelid BIGINT, tgname VARCHAR, tgenabled VARCHAR, tgisinternal BOOLEAN, "
    "tgparentid BIGINT, tgconstraint BIGINT, tgfoid BIGINT",
    "pg_user_mapping": "oid BIGINT, umuser BIGINT",
}
INFORMATION = {
    "schemata": "catalog_name VARCHAR, schema_name VARCHAR, schema_owner VARCHAR",
    "tables": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, table_type VARCHAR, "
    "is_insertable_into VARCHAR",
    "columns": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, "
    "ordinal_position INT, column_default VARCHAR, is_nullable VARCHAR, data_type VARCHAR, "
    "character_maximum_length INT, numeric_precision INT, numeric_scale INT, datetime_precision INT, "
    "udt_schema VARCHAR, udt_name VARCHAR, is_identity VARCHAR, is_generated VARCHAR, is_updatable VARCHAR",
    "views": "table_catalog VARCHAR, table_schema VARCHAR, table_name VARCHAR, view_definition VARCHAR",
    "table_constraints": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
    "table_schema VARCHAR, table_name VARCHAR, constraint_type VARCHAR",
    "key_column_usage": "constraint_catalog VARCHAR, constraint_schema VARCHAR, constraint_name VARCHAR, "
    "table_schema VARCHAR, table_name VARCHAR, column_name VARCHAR, ordinal_position INT",
    "routines": "routine_schema VARCHAR, routine_name VARCHAR, routine_type VARCHAR",
}
FUNCTIONS = f"""
CREATE MACRO pg.version() AS 'PostgreSQL {VERSION} (dbsp)';
CREATE MACRO pg.current_database() AS '{DATABASE}';
CREATE MACRO pg.current_schema() AS 'public';
CREATE MACRO pg.current_schemas(x) AS ['public'];
CREATE MACRO pg.pg_get_userbyid(x) AS 'dbsp';
CREATE MACRO pg.pg_table_is_visible(x) AS true;
CREATE MACRO pg.pg_type_is_visible(x) AS true;
CREATE MACRO pg.pg_collation_is_visible(x) AS true;
CREATE MACRO pg.pg_function_is_visible(x) AS true;
CREATE MACRO pg.pg_is_in_recovery() AS false;
CREATE MACRO pg.pg_backend_pid() AS 1;
CREATE MACRO pg.pg_encoding_to_char(x) AS 'UTF8';
CREATE MACRO pg.said_of(number, column_number) AS (
  SELECT said FROM pg.definitions d WHERE d.oid = number AND d.place = column_number);
CREATE MACRO pg.pg_get_viewdef(x, y := false) AS pg.said_of(x, 0);
CREATE MACRO pg.pg_get_constraintdef(x, y := false) AS pg.said_of(x, 0);
CREATE MACRO pg.pg_get_indexdef(x, y := 0, z := false) AS pg.said_of(x, y);
CREATE MACRO pg.pg_get_expr(x, y, z := false) AS x;
CREATE MACRO pg.pg_get_function_result(x) AS NULL::VARCHAR;
CREATE MACRO pg.pg_get_function_arguments(x) AS NULL::VARCHAR;
CREATE MACRO pg.pg_get_partkeydef(x) AS NULL::VARCHAR;
CREATE MACRO pg.pg_get_serial_sequence(x, y) AS NULL::VARCHAR;
CREATE MACRO pg.pg_get_statisticsobjdef_columns(x) AS NULL::VARCHAR;
CREATE MACRO pg.pg_relation_is_publishable(x) AS false;
CREATE MACRO pg.pg_table_size(x) AS NULL::BIGINT;
CREATE MACRO pg.pg_total_relation_size(x) AS NULL::BIGINT;
CREATE MACRO pg.pg_size_pretty(x) AS NULL::VARCHAR;
CREATE MACRO pg.pg_database_size(x) AS NULL::BIGINT;
CREATE MACRO pg.pg_partition_ancestors(x) AS NULL::BIGINT;
CREATE MACRO pg.obj_description(x, y := '') AS NULL::VARCHAR;
CREATE MACRO pg.col_description(x, y) AS NULL::VARCHAR;
CREATE MACRO pg.shobj_description(x, y) AS NULL::VARCHAR;
CREATE MACRO pg.has_schema_privilege(x, y, z := '') AS true;
CREATE MACRO pg.has_table_privilege(x, y, z := '') AS true;
CREATE MACRO pg.has_database_privilege(x, y, z := '') AS true;
CREATE MACRO pg.quote_ident(x) AS x;
CREATE MACRO pg.array_upper(x, n) AS len(x);
CREATE MACRO pg._pg_expandarray(a) AS
  unnest(list_transform(range(1, len(a) + 1), lambda i: {{'x': a[i], 'n': i}}));
CREATE MACRO pg.format_type(number, size) AS (
  SELECT shown || CASE WHEN number = 1700 AND size > 4
    THEN '(' || ((size - 4) >> 16)::VARCHAR || ',' || ((size - 4) & 65535)::VARCHAR || ')' ELSE '' END
  FROM pg.shown_types WHERE oid = number);
CREATE MACRO pg.to_regclass(asked) AS (
  SELECT oid FROM pg.pg_class WHERE relname = replace(replace(asked, '"', ''), 'public.', ''));
CREATE MACRO pg.to_regtype(asked) AS (
  SELECT oid FROM pg.shown_types WHERE shown = asked OR typname = asked);
CREATE MACRO pg.to_regproc(asked) AS NULL::BIGINT;
CREATE MACRO pg.current_setting(asked, missing := false) AS (
  SELECT setting FROM pg.pg_settings s WHERE s.name = lower(asked));
"""
SETTINGS = {
    "server_version": VERSION,
    "server_version_num": "170000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "max_index_keys": "32",
    "max_identifier_length": "63",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "application_name": "",
    "default_transaction_read_only": "on",
    "in_hot_standby": "off",
    "search_path": "public",
    "transaction_isolation": "read committed",
    "lc_collate": "C",
    "statement_timeout": "60s",
}
