{#- A model as a materialized view: its turn brings it, and all that can be with it, up to date. -#}
{% materialization incremental_view, adapter='dbsp' %}
  {%- set target = this.incorporate(type='table') -%}
  {%- set before = load_cached_relation(this) -%}
  {%- set grants = config.get('grants') -%}

  {{ run_hooks(pre_hooks) }}

  {% if config.get('contract').enforced %}
    {{ get_assert_columns_equivalent(sql) }}
  {% endif %}
  {% if before is not none and not before.is_table %}
    {% do adapter.drop_relation(before) %}
  {% endif %}

  {%- set kept = adapter.keep_incrementally(model['unique_id'], selected_resources, flags.FULL_REFRESH, flags.EMPTY) -%}
  {% call noop_statement('main', kept.said, kept.how, kept.rows) %}
    {{ sql }}
  {% endcall %}

  {% do apply_grants(target, grants, should_revoke(before, full_refresh_mode=False)) %}
  {% do persist_docs(target, model) %}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target]}) }}
{% endmaterialization %}
