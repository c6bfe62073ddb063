"""Relations of pg_catalog of which a program has nothing: they are there, and empty.

A column is a text where no type is said. Source: PostgreSQL 17 documentation, chapters 27.2, 51 and 52.
"""

_TABLES = (
    "relid BIGINT, schemaname, relname, seq_scan BIGINT, seq_tup_read BIGINT, "
    "idx_scan BIGINT, idx_tup_fetch BIGINT, n_tup_ins BIGINT, n_tup_upd BIGINT, n_tup_del BIGINT, "
    "n_tup_hot_upd BIGINT, n_live_tup BIGINT, n_dead_tup BIGINT, n_mod_since_analyze BIGINT, "
    "n_ins_since_vacuum BIGINT, last_vacuum TIMESTAMPTZ, last_autovacuum TIMESTAMPTZ, "
    "last_analyze TIMESTAMPTZ, last_autoanalyze TIMESTAMPTZ, vacuum_count BIGINT, autovacuum_count BIGINT, "
    "analyze_count BIGINT, autoanalyze_count BIGINT"
)
EMPTY = {
    "pg_aggregate": "aggfnoid BIGINT, aggkind, aggnumdirectargs SMALLINT, aggtransfn BIGINT, "
    "aggfinalfn BIGINT, aggcombinefn BIGINT, aggserialfn BIGINT, aggdeserialfn BIGINT, aggmtransfn BIGINT, "
    "aggminvtransfn BIGINT, aggmfinalfn BIGINT, aggfinalextra BOOLEAN, aggmfinalextra BOOLEAN, "
    "aggfinalmodify, aggmfinalmodify, aggsortop BIGINT, aggtranstype BIGINT, aggtransspace INT, "
    "aggmtranstype BIGINT, aggmtransspace INT, agginitval, aggminitval",
    "pg_amop": "oid BIGINT, amopfamily BIGINT, amoplefttype BIGINT, amoprighttype BIGINT, "
    "amopstrategy SMALLINT, amoppurpose, amopopr BIGINT, amopmethod BIGINT, amopsortfamily BIGINT",
    "pg_amproc": "oid BIGINT, amprocfamily BIGINT, amproclefttype BIGINT, amprocrighttype BIGINT, "
    "amprocnum SMALLINT, amproc BIGINT",
    "pg_available_extensions": "name, default_version, installed_version, comment",
    "pg_cast": "oid BIGINT, castsource BIGINT, casttarget BIGINT, castfunc BIGINT, castcontext, castmethod",
    "pg_conversion": "oid BIGINT, conname, connamespace BIGINT, conowner BIGINT, conforencoding INT, "
    "contoencoding INT, conproc BIGINT, condefault BOOLEAN",
    "pg_cursors": "name, statement, is_holdable BOOLEAN, is_binary BOOLEAN, is_scrollable BOOLEAN, "
    "creation_time TIMESTAMPTZ",
    "pg_db_role_setting": "setdatabase BIGINT, setrole BIGINT, setconfig VARCHAR[]",
    "pg_default_acl": "oid BIGINT, defaclrole BIGINT, defaclnamespace BIGINT, defaclobjtype, "
    "defaclacl VARCHAR",
    "pg_event_trigger": "oid BIGINT, evtname, evtevent, evtowner BIGINT, evtfoid BIGINT, evtenabled, "
    "evttags VARCHAR[]",
    "pg_file_settings": "sourcefile, sourceline INT, seqno INT, name, setting, applied BOOLEAN, error",
    "pg_foreign_data_wrapper": "oid BIGINT, fdwname, fdwowner BIGINT, fdwhandler BIGINT, "
    "fdwvalidator BIGINT, fdwacl VARCHAR, fdwoptions VARCHAR[]",
    "pg_group": "groname, grosysid BIGINT, grolist BIGINT[]",
    "pg_largeobject_metadata": "oid BIGINT, lomowner BIGINT, lomacl VARCHAR",
    "pg_locks": "locktype, database BIGINT, relation BIGINT, page INT, tuple SMALLINT, virtualxid, "
    "transactionid BIGINT, classid BIGINT, objid BIGINT, objsubid SMALLINT, virtualtransaction, pid INT, "
    "mode, granted BOOLEAN, fastpath BOOLEAN, waitstart TIMESTAMPTZ",
    "pg_matviews": "schemaname, matviewname, matviewowner, tablespace, hasindexes BOOLEAN, "
    "ispopulated BOOLEAN, definition",
    "pg_operator": "oid BIGINT, oprname, oprnamespace BIGINT, oprowner BIGINT, oprkind, "
    "oprcanmerge BOOLEAN, oprcanhash BOOLEAN, oprleft BIGINT, oprright BIGINT, oprresult BIGINT, "
    "oprcom BIGINT, oprnegate BIGINT, oprcode BIGINT, oprrest BIGINT, oprjoin BIGINT",
    "pg_opfamily": "oid BIGINT, opfmethod BIGINT, opfname, opfnamespace BIGINT, opfowner BIGINT",
    "pg_parameter_acl": "oid BIGINT, parname, paracl VARCHAR",
    "pg_policies": "schemaname, tablename, policyname, permissive, roles VARCHAR[], cmd, qual, with_check",
    "pg_prepared_statements": "name, statement, prepare_time TIMESTAMPTZ, parameter_types BIGINT[], "
    "from_sql BOOLEAN, generic_plans BIGINT, custom_plans BIGINT",
    "pg_prepared_xacts": "transaction BIGINT, gid, prepared TIMESTAMPTZ, owner, database",
    "pg_publication_tables": "pubname, schemaname, tablename, attnames VARCHAR[], rowfilter",
    "pg_replication_slots": "slot_name, plugin, slot_type, datoid BIGINT, database, temporary BOOLEAN, "
    "active BOOLEAN, active_pid INT, xmin BIGINT, catalog_xmin BIGINT, restart_lsn, confirmed_flush_lsn, "
    "wal_status, safe_wal_size BIGINT, two_phase BOOLEAN",
    "pg_rules": "schemaname, tablename, rulename, definition",
    "pg_seclabel": "objoid BIGINT, classoid BIGINT, objsubid INT, provider, label",
    "pg_seclabels": "objoid BIGINT, classoid BIGINT, objsubid INT, objtype, objnamespace BIGINT, objname, "
    "provider, label",
    "pg_sequences": "schemaname, sequencename, sequenceowner, data_type, start_value BIGINT, "
    "min_value BIGINT, max_value BIGINT, increment_by BIGINT, cycle BOOLEAN, cache_size BIGINT, "
    "last_value BIGINT",
    "pg_shdepend": "dbid BIGINT, classid BIGINT, objid BIGINT, objsubid INT, refclassid BIGINT, "
    "refobjid BIGINT, deptype",
    "pg_shdescription": "objoid BIGINT, classoid BIGINT, description",
    "pg_stat_activity": "datid BIGINT, datname, pid INT, leader_pid INT, usesysid BIGINT, usename, "
    "application_name, client_addr, client_hostname, client_port INT, backend_start TIMESTAMPTZ, "
    "xact_start TIMESTAMPTZ, query_start TIMESTAMPTZ, state_change TIMESTAMPTZ, wait_event_type, "
    "wait_event, state, backend_xid BIGINT, backend_xmin BIGINT, query_id BIGINT, query, backend_type",
    "pg_stat_all_tables": _TABLES,
    "pg_stat_bgwriter": "checkpoints_timed BIGINT, checkpoints_req BIGINT, checkpoint_write_time DOUBLE, "
    "checkpoint_sync_time DOUBLE, buffers_checkpoint BIGINT, buffers_clean BIGINT, maxwritten_clean BIGINT, "
    "buffers_backend BIGINT, buffers_backend_fsync BIGINT, buffers_alloc BIGINT, stats_reset TIMESTAMPTZ",
    "pg_stat_database": "datid BIGINT, datname, numbackends INT, xact_commit BIGINT, xact_rollback BIGINT, "
    "blks_read BIGINT, blks_hit BIGINT, tup_returned BIGINT, tup_fetched BIGINT, tup_inserted BIGINT, "
    "tup_updated BIGINT, tup_deleted BIGINT, conflicts BIGINT, temp_files BIGINT, temp_bytes BIGINT, "
    "deadlocks BIGINT, checksum_failures BIGINT, checksum_last_failure TIMESTAMPTZ, blk_read_time DOUBLE, "
    "blk_write_time DOUBLE, session_time DOUBLE, active_time DOUBLE, idle_in_transaction_time DOUBLE, "
    "sessions BIGINT, sessions_abandoned BIGINT, sessions_fatal BIGINT, sessions_killed BIGINT, "
    "stats_reset TIMESTAMPTZ",
    "pg_stat_gssapi": "pid INT, gss_authenticated BOOLEAN, principal, encrypted BOOLEAN",
    "pg_stat_replication": "pid INT, usesysid BIGINT, usename, application_name, client_addr, "
    "client_hostname, client_port INT, backend_start TIMESTAMPTZ, backend_xmin BIGINT, state, sent_lsn, "
    "write_lsn, flush_lsn, replay_lsn, write_lag INTERVAL, flush_lag INTERVAL, replay_lag INTERVAL, "
    "sync_priority INT, sync_state, reply_time TIMESTAMPTZ",
    "pg_stat_ssl": "pid INT, ssl BOOLEAN, version, cipher, bits INT, client_dn, client_serial DOUBLE, "
    "issuer_dn",
    "pg_stat_user_indexes": "relid BIGINT, indexrelid BIGINT, schemaname, relname, indexrelname, "
    "idx_scan BIGINT, idx_tup_read BIGINT, idx_tup_fetch BIGINT",
    "pg_stat_user_tables": _TABLES,
    "pg_stat_wal_receiver": "pid INT, status, receive_start_lsn, receive_start_tli INT, written_lsn, "
    "flushed_lsn, received_tli INT, last_msg_send_time TIMESTAMPTZ, last_msg_receipt_time TIMESTAMPTZ, "
    "latest_end_lsn, latest_end_time TIMESTAMPTZ, slot_name, sender_host, sender_port INT, conninfo",
    "pg_statio_user_tables": "relid BIGINT, schemaname, relname, heap_blks_read BIGINT, "
    "heap_blks_hit BIGINT, idx_blks_read BIGINT, idx_blks_hit BIGINT, toast_blks_read BIGINT, "
    "toast_blks_hit BIGINT, tidx_blks_read BIGINT, tidx_blks_hit BIGINT",
    "pg_statistic_ext_data": "stxoid BIGINT, stxdinherit BOOLEAN, stxdndistinct, stxddependencies, stxdmcv, "
    "stxdexpr VARCHAR[]",
    "pg_stats": "schemaname, tablename, attname, inherited BOOLEAN, null_frac FLOAT, avg_width INT, "
    "n_distinct FLOAT, most_common_vals VARCHAR[], most_common_freqs FLOAT[], histogram_bounds VARCHAR[], "
    "correlation FLOAT, most_common_elems VARCHAR[], most_common_elem_freqs FLOAT[], "
    "elem_count_histogram FLOAT[]",
    "pg_subscription": "oid BIGINT, subdbid BIGINT, subskiplsn, subname, subowner BIGINT, "
    "subenabled BOOLEAN, subbinary BOOLEAN, substream BOOLEAN, subtwophasestate, subdisableonerr BOOLEAN, "
    "subconninfo, subslotname, subsynccommit, subpublications VARCHAR[]",
    "pg_subscription_rel": "srsubid BIGINT, srrelid BIGINT, srsubstate, srsublsn",
    "pg_timezone_names": "name, abbrev, utc_offset INTERVAL, is_dst BOOLEAN",
    "pg_transform": "oid BIGINT, trftype BIGINT, trflang BIGINT, trffromsql BIGINT, trftosql BIGINT",
    "pg_ts_config": "oid BIGINT, cfgname, cfgnamespace BIGINT, cfgowner BIGINT, cfgparser BIGINT",
    "pg_ts_config_map": "mapcfg BIGINT, maptokentype INT, mapseqno INT, mapdict BIGINT",
    "pg_ts_dict": "oid BIGINT, dictname, dictnamespace BIGINT, dictowner BIGINT, dicttemplate BIGINT, "
    "dictinitoption",
    "pg_ts_parser": "oid BIGINT, prsname, prsnamespace BIGINT, prsstart BIGINT, prstoken BIGINT, "
    "prsend BIGINT, prsheadline BIGINT, prslextype BIGINT",
    "pg_ts_template": "oid BIGINT, tmplname, tmplnamespace BIGINT, tmplinit BIGINT, tmpllexize BIGINT",
    "pg_user_mappings": "umid BIGINT, srvid BIGINT, srvname, umuser BIGINT, usename, umoptions VARCHAR[]",
}
