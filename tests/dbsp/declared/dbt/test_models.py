"""What dbt's own project and compiler give. No statement is run."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.servers.dbt import python, write_project

pytestmark = pytest.mark.slow  # dbt's imports take seconds

SCRIPT = """
import json, sys
from dbt.cli.main import dbtRunner
from dbt.adapters.factory import get_adapter_by_type
from dbsp.circuits.errors import Error
from dbsp.declared.dbt.models import Models, nodes_of
manifest = dbtRunner().invoke(["--quiet", "parse"]).result
config = get_adapter_by_type("dbsp").config
models, said = Models(config, manifest), {}
for name, node in nodes_of(manifest).items():
    try:
        said[name] = [node.materialized, list(node.reads), models.relation(name), models.statement(name)]
    except Error as error:
        said[name] = str(error)
print("answer " + json.dumps(said))
"""
FILES = {
    "models/a.sql": "{{ config(materialized='incremental_view', file_format='delta', partition_by='k', "
    "tblproperties={'it''s': 'x'}) }}\nselect 1 as k -- one",
    "models/v.sql": "{{ config(materialized='view') }}select * from {{ ref('a') }}",
    "models/e.sql": "{{ config(materialized='ephemeral') }}select k + 1 as k from {{ ref('v') }}",
    "models/b.sql": "{{ config(materialized='incremental_view', alias='other') }}\n"
    "select k from {{ ref('e') }} where {{ 1 - 1 }} = 0",
    "models/c.sql": "{{ config(materialized='incremental_view', location_root='/x') }}select 1 as k",
}


def test_definitions_of_models(tmp_path):
    write_project(tmp_path, FILES)
    done = subprocess.run([python(), "-c", SCRIPT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.partition("answer ")[2])
    assert found["model.shop.a"] == [
        "incremental_view",
        [],
        "spark_catalog.ours.a",
        "CREATE MATERIALIZED VIEW spark_catalog.ours.a USING delta PARTITIONED BY (k) "
        "TBLPROPERTIES ('its' = 'x') AS\nselect 1 as k -- one\n;\n",
    ]
    kind, reads, relation, text = found["model.shop.b"]
    assert (kind, reads, relation) == ("incremental_view", ["model.shop.e"], "spark_catalog.ours.other")
    assert " ".join(text.split()) == (
        "CREATE MATERIALIZED VIEW spark_catalog.ours.other AS with __dbt__cte__v as ( "
        "select * from ours.a ), __dbt__cte__e as ( select k + 1 as k from __dbt__cte__v ) "
        "select k from __dbt__cte__e where 0 = 0 ;"
    )
    assert found["model.shop.c"].startswith("models/c.sql: not supported yet: config 'location_root'")
