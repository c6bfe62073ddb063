"""information_schema: what the standard says of relations, their columns and keys.

A column is a text where no type is said. Source: PostgreSQL 17 documentation, chapter 35.
"""

# what the program's relations fill
INFORMATION = {
    "schemata": "catalog_name, schema_name, schema_owner, default_character_set_catalog, "
    "default_character_set_schema, default_character_set_name, sql_path",
    "tables": "table_catalog, table_schema, table_name, table_type, self_referencing_column_name, "
    "reference_generation, user_defined_type_catalog, user_defined_type_schema, user_defined_type_name, "
    "is_insertable_into, is_typed, commit_action",
    "columns": "table_catalog, table_schema, table_name, column_name, ordinal_position INT, column_default, "
    "is_nullable, data_type, character_maximum_length INT, character_octet_length INT, "
    "numeric_precision INT, numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, "
    "interval_type, interval_precision INT, character_set_catalog, character_set_schema, "
    "character_set_name, collation_catalog, collation_schema, collation_name, domain_catalog, "
    "domain_schema, domain_name, udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, "
    "scope_name, maximum_cardinality INT, dtd_identifier, is_self_referencing, is_identity, "
    "identity_generation, identity_start, identity_increment, identity_maximum, identity_minimum, "
    "identity_cycle, is_generated, generation_expression, is_updatable",
    "views": "table_catalog, table_schema, table_name, view_definition, check_option, is_updatable, "
    "is_insertable_into, is_trigger_updatable, is_trigger_deletable, is_trigger_insertable_into",
    "table_constraints": "constraint_catalog, constraint_schema, constraint_name, table_catalog, "
    "table_schema, table_name, constraint_type, is_deferrable, initially_deferred, enforced, nulls_distinct",
    "key_column_usage": "constraint_catalog, constraint_schema, constraint_name, table_catalog, "
    "table_schema, table_name, column_name, ordinal_position INT, position_in_unique_constraint INT",
    "information_schema_catalog_name": "catalog_name",
}
# what a program has nothing of
EMPTY_INFORMATION = {
    "applicable_roles": "grantee, role_name, is_grantable",
    "attributes": "udt_catalog, udt_schema, udt_name, attribute_name, ordinal_position INT, "
    "attribute_default, is_nullable, data_type, character_maximum_length INT, character_octet_length INT, "
    "character_set_catalog, character_set_schema, character_set_name, collation_catalog, collation_schema, "
    "collation_name, numeric_precision INT, numeric_precision_radix INT, numeric_scale INT, "
    "datetime_precision INT, interval_type, interval_precision INT, attribute_udt_catalog, "
    "attribute_udt_schema, attribute_udt_name, scope_catalog, scope_schema, scope_name, "
    "maximum_cardinality INT, dtd_identifier, is_derived_reference_attribute",
    "character_sets": "character_set_catalog, character_set_schema, character_set_name, "
    "character_repertoire, form_of_use, default_collate_catalog, default_collate_schema, "
    "default_collate_name",
    "check_constraints": "constraint_catalog, constraint_schema, constraint_name, check_clause",
    "collations": "collation_catalog, collation_schema, collation_name, pad_attribute",
    "column_privileges": "grantor, grantee, table_catalog, table_schema, table_name, column_name, "
    "privilege_type, is_grantable",
    "constraint_table_usage": "table_catalog, table_schema, table_name, constraint_catalog, "
    "constraint_schema, constraint_name",
    "domain_constraints": "constraint_catalog, constraint_schema, constraint_name, domain_catalog, "
    "domain_schema, domain_name, is_deferrable, initially_deferred",
    "domains": "domain_catalog, domain_schema, domain_name, data_type, character_maximum_length INT, "
    "character_octet_length INT, character_set_catalog, character_set_schema, character_set_name, "
    "collation_catalog, collation_schema, collation_name, numeric_precision INT, "
    "numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, interval_type, "
    "interval_precision INT, domain_default, udt_catalog, udt_schema, udt_name, scope_catalog, "
    "scope_schema, scope_name, maximum_cardinality INT, dtd_identifier",
    "element_types": "object_catalog, object_schema, object_name, object_type, collection_type_identifier, "
    "data_type, character_maximum_length INT, character_octet_length INT, character_set_catalog, "
    "character_set_schema, character_set_name, collation_catalog, collation_schema, collation_name, "
    "numeric_precision INT, numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, "
    "interval_type, interval_precision INT, domain_default, udt_catalog, udt_schema, udt_name, "
    "scope_catalog, scope_schema, scope_name, maximum_cardinality INT, dtd_identifier",
    "enabled_roles": "role_name",
    "foreign_tables": "foreign_table_catalog, foreign_table_schema, foreign_table_name, "
    "foreign_server_catalog, foreign_server_name",
    "parameters": "specific_catalog, specific_schema, specific_name, ordinal_position INT, parameter_mode, "
    "is_result, as_locator, parameter_name, data_type, character_maximum_length INT, "
    "character_octet_length INT, character_set_catalog, character_set_schema, character_set_name, "
    "collation_catalog, collation_schema, collation_name, numeric_precision INT, "
    "numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, interval_type, "
    "interval_precision INT, udt_catalog, udt_schema, udt_name, scope_catalog, scope_schema, scope_name, "
    "maximum_cardinality INT, dtd_identifier, parameter_default",
    "referential_constraints": "constraint_catalog, constraint_schema, constraint_name, "
    "unique_constraint_catalog, unique_constraint_schema, unique_constraint_name, match_option, "
    "update_rule, delete_rule",
    "role_column_grants": "grantor, grantee, table_catalog, table_schema, table_name, column_name, "
    "privilege_type, is_grantable",
    "role_table_grants": "grantor, grantee, table_catalog, table_schema, table_name, privilege_type, "
    "is_grantable, with_hierarchy",
    "role_usage_grants": "grantor, grantee, object_catalog, object_schema, object_name, object_type, "
    "privilege_type, is_grantable",
    "routine_privileges": "grantor, grantee, specific_catalog, specific_schema, specific_name, "
    "routine_catalog, routine_schema, routine_name, privilege_type, is_grantable",
    "routines": "specific_catalog, specific_schema, specific_name, routine_catalog, routine_schema, "
    "routine_name, routine_type, data_type, type_udt_catalog, type_udt_schema, type_udt_name, routine_body, "
    "routine_definition, external_name, external_language, is_deterministic, security_type",
    "sequences": "sequence_catalog, sequence_schema, sequence_name, data_type, numeric_precision INT, "
    "numeric_precision_radix INT, numeric_scale INT, start_value, minimum_value, maximum_value, increment, "
    "cycle_option",
    "sql_features": "feature_id, feature_name, sub_feature_id, sub_feature_name, is_supported, "
    "is_verified_by, comments",
    "table_privileges": "grantor, grantee, table_catalog, table_schema, table_name, privilege_type, "
    "is_grantable, with_hierarchy",
    "triggers": "trigger_catalog, trigger_schema, trigger_name, event_manipulation, event_object_catalog, "
    "event_object_schema, event_object_table, action_order INT, action_condition, action_statement, "
    "action_orientation, action_timing, action_reference_old_table, action_reference_new_table, "
    "action_reference_old_row, action_reference_new_row, created TIMESTAMPTZ",
    "udt_privileges": "grantor, grantee, udt_catalog, udt_schema, udt_name, privilege_type, is_grantable",
    "usage_privileges": "grantor, grantee, object_catalog, object_schema, object_name, object_type, "
    "privilege_type, is_grantable",
    "user_defined_types": "user_defined_type_catalog, user_defined_type_schema, user_defined_type_name, "
    "user_defined_type_category, is_instantiable, is_final, ordering_form, ordering_category, "
    "ordering_routine_catalog, ordering_routine_schema, ordering_routine_name, reference_type, data_type, "
    "character_maximum_length INT, character_octet_length INT, character_set_catalog, character_set_schema, "
    "character_set_name, collation_catalog, collation_schema, collation_name, numeric_precision INT, "
    "numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, interval_type, "
    "interval_precision INT, source_dtd_identifier, ref_dtd_identifier",
    "view_column_usage": "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name, "
    "column_name",
    "view_table_usage": "view_catalog, view_schema, view_name, table_catalog, table_schema, table_name",
}
