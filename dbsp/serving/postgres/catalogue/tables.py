"""The tables of PostgreSQL's catalogue that a program fills, as far as `\\d`, drivers and tools ask for them.

Source: PostgreSQL 17 documentation, chapters 51 and 52.
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
    "typsend BIGINT, typmodin BIGINT, typmodout BIGINT, typanalyze BIGINT, typbyval BOOLEAN, "
    "typalign VARCHAR, typstorage VARCHAR, typispreferred BOOLEAN, typisdefined BOOLEAN, typacl VARCHAR",
    "pg_database": "oid BIGINT, datname VARCHAR, datdba BIGINT, encoding INT, datistemplate BOOLEAN, "
    "datallowconn BOOLEAN, datconnlimit INT, dattablespace BIGINT, datcollate VARCHAR, datctype VARCHAR, "
    "datlocprovider VARCHAR, daticulocale VARCHAR, datlocale VARCHAR, daticurules VARCHAR, datacl VARCHAR[]",
    "pg_roles": "oid BIGINT, rolname VARCHAR, rolsuper BOOLEAN, rolinherit BOOLEAN, rolcreaterole BOOLEAN, "
    "rolcreatedb BOOLEAN, rolcanlogin BOOLEAN, rolreplication BOOLEAN, rolconnlimit INT, "
    "rolvaliduntil TIMESTAMPTZ, rolbypassrls BOOLEAN, rolpassword VARCHAR, rolconfig VARCHAR[]",
    "pg_am": "oid BIGINT, amname VARCHAR, amhandler BIGINT, amtype VARCHAR",
    "pg_auth_members": "roleid BIGINT, member BIGINT, grantor BIGINT, admin_option BOOLEAN",
    "pg_attrdef": "oid BIGINT, adrelid BIGINT, adnum SMALLINT, adbin VARCHAR",
    "pg_collation": "oid BIGINT, collname VARCHAR, collnamespace BIGINT, collowner BIGINT, "
    "collprovider VARCHAR, collisdeterministic BOOLEAN, collencoding INT, collcollate VARCHAR, "
    "collctype VARCHAR, colliculocale VARCHAR, collversion VARCHAR",
    "pg_constraint": "oid BIGINT, conname VARCHAR, connamespace BIGINT, contype VARCHAR, "
    "condeferrable BOOLEAN, condeferred BOOLEAN, convalidated BOOLEAN, conrelid BIGINT, "
    "contypid BIGINT, conindid BIGINT, "
    "conparentid BIGINT, confrelid BIGINT, confupdtype VARCHAR, confdeltype VARCHAR, confmatchtype VARCHAR, "
    "conkey SMALLINT[], confkey SMALLINT[], connoinherit BOOLEAN, conbin VARCHAR",
    "pg_depend": "classid BIGINT, objid BIGINT, objsubid INT, refclassid BIGINT, refobjid BIGINT, "
    "refobjsubid INT, deptype VARCHAR",
    "pg_description": "objoid BIGINT, classoid BIGINT, objsubid INT, description VARCHAR",
    "pg_enum": "oid BIGINT, enumtypid BIGINT, enumsortorder FLOAT, enumlabel VARCHAR",
    "pg_extension": "oid BIGINT, extname VARCHAR, extowner BIGINT, extnamespace BIGINT, "
    "extrelocatable BOOLEAN, extversion VARCHAR",
    "pg_foreign_server": "oid BIGINT, srvname VARCHAR, srvowner BIGINT, srvfdw BIGINT, srvtype VARCHAR, "
    "srvversion VARCHAR, srvacl VARCHAR, srvoptions VARCHAR[]",
    "pg_foreign_table": "ftrelid BIGINT, ftserver BIGINT, ftoptions VARCHAR[]",
    "pg_index": "indexrelid BIGINT, indrelid BIGINT, indnatts SMALLINT, indnkeyatts SMALLINT, "
    "indisunique BOOLEAN, indisprimary BOOLEAN, indisexclusion BOOLEAN, indimmediate BOOLEAN, "
    "indisclustered BOOLEAN, indisvalid BOOLEAN, indisreplident BOOLEAN, indkey SMALLINT[], "
    "indoption SMALLINT[], indexprs VARCHAR, indpred VARCHAR, indclass BIGINT[], indcollation BIGINT[], "
    "indnullsnotdistinct BOOLEAN",
    "pg_inherits": "inhrelid BIGINT, inhparent BIGINT, inhseqno INT, inhdetachpending BOOLEAN",
    "pg_language": "oid BIGINT, lanname VARCHAR, lanowner BIGINT, lanispl BOOLEAN, lanpltrusted BOOLEAN, "
    "lanplcallfoid BIGINT, laninline BIGINT, lanvalidator BIGINT, lanacl VARCHAR",
    "pg_opclass": "oid BIGINT, opcmethod BIGINT, opcname VARCHAR, opcnamespace BIGINT, opcowner BIGINT, "
    "opcfamily BIGINT, opcintype BIGINT, opcdefault BOOLEAN, opckeytype BIGINT",
    "pg_partitioned_table": "partrelid BIGINT, partstrat VARCHAR, partnatts SMALLINT, partattrs SMALLINT[]",
    "pg_policy": "oid BIGINT, polname VARCHAR, polrelid BIGINT, polcmd VARCHAR, polpermissive BOOLEAN, "
    "polroles BIGINT[], polqual VARCHAR, polwithcheck VARCHAR",
    "pg_proc": "oid BIGINT, proname VARCHAR, pronamespace BIGINT, proowner BIGINT, prokind VARCHAR, "
    "prorettype BIGINT, proargtypes BIGINT[], prolang BIGINT, procost FLOAT, prorows FLOAT, "
    "provariadic BIGINT, prosupport BIGINT, prosecdef BOOLEAN, proleakproof BOOLEAN, proisstrict BOOLEAN, "
    "proretset BOOLEAN, provolatile VARCHAR, proparallel VARCHAR, pronargs SMALLINT, "
    "pronargdefaults SMALLINT, proallargtypes BIGINT[], proargmodes VARCHAR[], proargnames VARCHAR[], "
    "proargdefaults VARCHAR, prosrc VARCHAR, probin VARCHAR, proconfig VARCHAR[], proacl VARCHAR",
    "pg_publication": "oid BIGINT, pubname VARCHAR, pubowner BIGINT, puballtables BOOLEAN, "
    "pubinsert BOOLEAN, pubupdate BOOLEAN, pubdelete BOOLEAN, pubtruncate BOOLEAN, pubviaroot BOOLEAN",
    "pg_publication_namespace": "oid BIGINT, pnpubid BIGINT, pnnspid BIGINT",
    "pg_publication_rel": "oid BIGINT, prpubid BIGINT, prrelid BIGINT, prqual VARCHAR, prattrs SMALLINT[]",
    "pg_range": "rngtypid BIGINT, rngsubtype BIGINT, rngmultitypid BIGINT",
    "pg_rewrite": "oid BIGINT, rulename VARCHAR, ev_class BIGINT, ev_type VARCHAR, ev_enabled VARCHAR",
    "pg_sequence": "seqrelid BIGINT, seqtypid BIGINT, seqstart BIGINT, seqincrement BIGINT, "
    "seqmin BIGINT, seqmax BIGINT, seqcache BIGINT, seqcycle BOOLEAN",
    "pg_settings": "name VARCHAR, setting VARCHAR, unit VARCHAR, category VARCHAR, source VARCHAR, "
    "short_desc VARCHAR, extra_desc VARCHAR, context VARCHAR, vartype VARCHAR, min_val VARCHAR, "
    "max_val VARCHAR, enumvals VARCHAR[], boot_val VARCHAR, reset_val VARCHAR, sourcefile VARCHAR, "
    "sourceline INT, pending_restart BOOLEAN",
    "pg_statistic_ext": "oid BIGINT, stxrelid BIGINT, stxname VARCHAR, stxnamespace BIGINT, "
    "stxkind VARCHAR[], stxstattarget INT, stxkeys SMALLINT[]",
    "pg_tablespace": "oid BIGINT, spcname VARCHAR, spcowner BIGINT, spcacl VARCHAR, spcoptions VARCHAR[]",
    "pg_trigger": "oid BIGINT, tgrelid BIGINT, tgname VARCHAR, tgenabled VARCHAR, tgisinternal BOOLEAN, "
    "tgparentid BIGINT, tgconstraint BIGINT, tgfoid BIGINT",
    "pg_user_mapping": "oid BIGINT, umuser BIGINT, umserver BIGINT, umoptions VARCHAR[]",
}
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
