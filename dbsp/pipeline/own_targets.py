"""Of each format that this project writes itself, what does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dbsp.sql.plans.own_forms import DELTA, DUCKDB, ICEBERG, MARIADB, MYSQL, POSTGRES, REDIS, SQLITE, OwnForm
from dbsp.targets.delta.target import Delta
from dbsp.targets.duckdb.target import Duckdb
from dbsp.targets.iceberg.target import Iceberg
from dbsp.targets.mariadb.target import Mariadb
from dbsp.targets.outlet import Outlet
from dbsp.targets.postgres.target import Postgres
from dbsp.targets.redis.target import Redis
from dbsp.targets.sqlite.target import Sqlite
from dbsp.targets.target import Target

OWN: Mapping[OwnForm, Callable[[Outlet], Target]] = {
    POSTGRES: Postgres,
    MARIADB: Mariadb,
    MYSQL: Mariadb,
    SQLITE: Sqlite,
    DUCKDB: Duckdb,
    REDIS: Redis,
    DELTA: Delta,
    ICEBERG: Iceberg,
}
