"""What PostgreSQL lists of relations in other words: pg_tables, pg_views, pg_indexes, pg_user.

They are views over the tables that stand for its catalogue. Source: PostgreSQL 17 documentation, chapters 35
and 52.
"""

_RELATIONS = "pg.pg_class c JOIN pg.pg_namespace n ON n.oid = c.relnamespace"

LISTINGS = {
    "pg.pg_tables": f"""
      SELECT nspname AS schemaname, relname AS tablename, 'dbsp' AS tableowner, NULL::VARCHAR AS tablespace,
        relhasindex AS hasindexes, relhasrules AS hasrules, relhastriggers AS hastriggers,
        relrowsecurity AS rowsecurity
      FROM {_RELATIONS} WHERE relkind = 'r'""",
    "pg.pg_views": f"""
      SELECT nspname AS schemaname, relname AS viewname, 'dbsp' AS viewowner, said AS definition
      FROM {_RELATIONS} LEFT JOIN pg.definitions d ON d.oid = c.oid AND place = 0 WHERE relkind = 'v'""",
    "pg.pg_indexes": f"""
      SELECT nspname AS schemaname, t.relname AS tablename, c.relname AS indexname,
        NULL::VARCHAR AS tablespace, said AS indexdef
      FROM {_RELATIONS} JOIN pg.pg_index i ON i.indexrelid = c.oid JOIN pg.pg_class t ON t.oid = i.indrelid
      LEFT JOIN pg.definitions d ON d.oid = c.oid AND place = 0""",
    "pg.pg_authid": """
      SELECT oid, rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
        rolbypassrls, rolconnlimit, NULL::VARCHAR AS rolpassword, rolvaliduntil
      FROM pg.pg_roles""",
    **dict.fromkeys(
        ("pg.pg_user", "pg.pg_shadow"),
        """
      SELECT rolname AS usename, oid AS usesysid, rolcreatedb AS usecreatedb, rolsuper AS usesuper,
        rolreplication AS userepl, rolbypassrls AS usebypassrls, rolpassword AS passwd,
        rolvaliduntil AS valuntil, rolconfig AS useconfig
      FROM pg.pg_roles WHERE rolcanlogin""",
    ),
    "information.constraint_column_usage": """
      SELECT table_catalog, table_schema, table_name, column_name, constraint_catalog, constraint_schema,
        constraint_name
      FROM information.key_column_usage""",
}
