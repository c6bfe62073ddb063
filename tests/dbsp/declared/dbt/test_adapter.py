"""The law: after every `dbt run` each incremental view is what dbt's own `table` makes of the same project.

Models are random, of every materialization, as are the changes of what they read; both are dbt's own runs, in
one process of dbt.
"""

from __future__ import annotations

import random

import pytest

from tests.dbsp.declared.drawn import LISTED, QUERIES, TABLES, change
from tests.effort import is_long
from tests.servers.dbt import dbt, write_project

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ROUNDS = 2
MODELS = 7
KINDS = ("{{ var('kept') }}",) * 4 + ("view", "ephemeral", "table")
_SOURCES = "sources: [{name: raw, tables: [{name: first}, {name: second}]}]\n"


def drawn(random_: random.Random) -> tuple[dict[str, str], list[str]]:
    """The files of a project, and the models that are tables."""
    readable = [f"{{{{ source('raw', '{name}') }}}}" for name in TABLES]
    files, stored = {"models/sources.yml": _SOURCES}, []
    for number in range(MODELS):
        name, kind = f"m_{number}", random_.choice(KINDS) if number else KINDS[0]
        a, b = (random_.choice(readable[-4:]) for _ in range(2))
        query = random_.choice(QUERIES).format(a=a, b=b, number=random_.randrange(3))
        files[f"models/{name}.sql"] = f'{{{{ config(materialized="{kind.strip("{} ")}") }}}}\n{query}\n'
        if kind == KINDS[0]:
            files[f"models/{name}.sql"] = f"{{{{ config(materialized=var('kept')) }}}}\n{query}\n"
        if kind not in ("view", "ephemeral"):
            stored.append(name)
        readable.append(f"{{{{ ref('{name}') }}}}")
    return files, stored


def test_as_dbts_own_tables(tmp_path):
    for seed in range(6 if is_long() else 1):
        random_, folder, once = random.Random(seed + 3), tmp_path / f"{seed}", list(range(1000))
        files, stored = drawn(random_)
        write_project(folder, files, threads=3)
        with dbt(folder) as run:
            run.sql("CREATE DATABASE raw")
            for name in TABLES:
                run.sql(
                    f"CREATE TABLE raw.{name} ({LISTED}) USING parquet LOCATION '{folder}/sources/{name}'"
                )
            for number in range(ROUNDS):
                change(random_, folder / "sources", number, once)
                for name in TABLES:
                    run.sql(f"REFRESH TABLE raw.{name}")
                ours = run("run", "--target", "ours", "--vars", "{kept: incremental_view}")
                theirs = run("run", "--target", "theirs", "--vars", "{kept: table}")
                for made in (ours, theirs):
                    assert {status for status, _ in made.values()} == {"success"}, (folder, made)
                for name in stored:
                    rows = run.sql(f"SELECT * FROM ours.{name}")
                    assert rows == run.sql(f"SELECT * FROM theirs.{name}"), (folder, number, name)


def test_a_project_of_ones_own(tmp_path):
    write_project(
        tmp_path,
        {
            "models/a.sql": "{{ config(materialized='incremental_view') }}select n, v from raw.first",
            "models/b.sql": "{{ config(materialized='incremental_view') }}"
            "select sum(n) as n from {{ ref('a') }}",
            "models/c.sql": "{{ config(materialized='incremental_view') }}select rand() as n from raw.first",
            "models/d.sql": "{{ config(materialized='incremental_view', "
            "tblproperties={'refresh_policy': 'auto'}) }}select n, rand() as r from raw.first",
            "models/tested.yml": "models: [{name: b, columns: [{name: n, data_tests: [not_null, "
            "{accepted_values: {arguments: {values: [3]}}}]}]}]\n",
        },
    )
    with dbt(tmp_path) as run:
        run.sql("CREATE DATABASE raw")
        run.sql("CREATE TABLE raw.first AS SELECT * FROM VALUES (1, 1), (2, 2) AS t (n, v)")
        made = run("run")
        assert {name: status for name, (status, _) in made.items()} == {
            **dict.fromkeys("abd", "success"),
            "c": "error",
        }
        assert "tblproperties={'refresh_policy': 'auto'} recomputes" in made["c"][1]
        assert {status for status, _ in run("test").values()} == {"pass"}
        run.sql("INSERT INTO raw.first VALUES (4, 4)")
        assert {name: said for name, (_, said) in run("run", "--select", "a", "b").items()} == {
            "a": "incremental: 1 rows in, 0 out",
            "b": "incremental: 1 rows in, 1 out",
        }
        assert {status for status, _ in run("test").values()} == {"pass", "fail"}
        assert run("run", "--full-refresh", "--select", "b")["b"][1].startswith("full")
        assert run("run", "--full-refresh")["b"][1].startswith("full")
        assert run.sql("SELECT n FROM ours.b") == ["(7,)"]
        assert run("run", "--empty", "--select", "a")["a"][0] == "error"
