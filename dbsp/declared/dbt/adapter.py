"""The adapter of `type: dbsp`: dbt-spark's, in a session of this process, with one more materialization."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.base.meta import available
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark import SparkAdapter, SparkCredentials
from dbt.adapters.spark.connections import SparkConnectionManager, SparkConnectionMethod
from dbt_common.exceptions import DbtRuntimeError

from dbsp.circuits.errors import Error
from dbsp.declared.dbt.keeping import Keeping
from dbsp.declared.dbt.models import Models, nodes_of
from dbsp.declared.dbt.turns import Turns
from dbsp.declared.starting import started
from dbsp.running.spark.session import session
from dbsp.running.spark.settings import Settings
from dbsp.sql.catalyst import running_session

_LOG = AdapterLogger("dbsp")
_STARTING = Lock()
_ANSI = "spark.sql.ansi.enabled"
_STATE = ".dbsp"  # in the directory of dbt's project


@dataclass
class Credentials(SparkCredentials):  # type: ignore[misc]
    """state: the directory of what is kept; `.dbsp/TARGET` in the project's unless given."""

    method: Any = SparkConnectionMethod.SESSION
    host: str | None = "session"
    state: str | None = None

    def __post_init__(self) -> None:
        asked = self.server_side_parameters.get(_ANSI, "true")
        super().__post_init__()
        self.server_side_parameters[_ANSI] = asked  # dbt-spark switches off what is Spark's default
        if self.method != SparkConnectionMethod.SESSION:
            raise DbtRuntimeError(
                f"not supported yet: method: {self.method} with type: dbsp; models are kept by the session "
                "of dbt's own process: leave `method` out"
            )

    @property
    def type(self) -> str:
        """In profiles.yml."""
        return "dbsp"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("schema", "state")


class Connections(SparkConnectionManager):  # type: ignore[misc]
    """Of the one session that there is."""

    TYPE = "dbsp"

    @classmethod
    def open(cls, connection: Any) -> Any:
        """With the session started as `dbsp pipeline` starts it, which dbt-spark then finds."""
        given = connection.credentials
        conf = {"spark.sql.catalogImplementation": "hive", **given.server_side_parameters}
        try:
            with _STARTING:
                if running_session() is None:
                    started(Settings(conf=conf))
        except Error as error:
            raise DbtRuntimeError(str(error)) from error
        return super().open(connection)


class DbspAdapter(SparkAdapter):  # type: ignore[misc]
    """dbt-spark's, with `keep_incrementally` for the macro of the materialization. dbt wants the name."""

    ConnectionManager = Connections

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._keeping: Keeping | None = None
        self._one = Lock()

    @available  # type: ignore[untyped-decorator]
    def keep_incrementally(
        self, model: str, selected: list[str], full_refresh: bool, empty: bool
    ) -> dict[str, Any]:
        """Bring a model up to date at its turn: what dbt says of it. Raises DbtRuntimeError."""
        if empty:
            raise DbtRuntimeError("not supported yet: --empty with incremental_view, whose rows would all go")
        try:
            done = self._of_run(selected).keep(model, full_refresh)
        except Error as error:
            raise DbtRuntimeError(_as_of_dbt(str(error))) from error
        written = done.written
        said = f"{done.how}: {written.inserted} rows in, {written.retracted} out"
        return {"said": said, "how": done.how, "rows": written.inserted + written.retracted}

    def _of_run(self, selected: list[str]) -> Keeping:
        with self._one:
            if self._keeping is None:  # dbt makes an adapter a run
                config: Any = self.config
                manifest = self.get_macro_resolver()
                place = config.credentials.state or str(Path(_STATE) / config.target_name)
                self._keeping = Keeping(
                    session(),
                    Turns(nodes_of(manifest), frozenset(selected)),
                    Models(config, manifest),
                    Path(config.project_root, place).resolve(),
                    config.credentials.schema,
                    _LOG.info,
                )
            return self._keeping


def _as_of_dbt(message: str) -> str:
    """What is said of options of `dbsp pipeline` in those that dbt has."""
    given = "tblproperties={'refresh_policy': 'auto'}"
    message = message.replace("--fallback full, or its property refresh_policy = auto,", given)
    message = message.replace("--fallback full, or ", "")
    return message.replace("--full-refresh-all", "dbt run --full-refresh")


Plugin = AdapterPlugin(
    adapter=DbspAdapter,
    credentials=Credentials,
    include_path=str(Path(__file__).with_name("include")),
    dependencies=["spark"],
)
