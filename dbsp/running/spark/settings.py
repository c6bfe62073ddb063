"""What a user asks of a Spark session that dbsp starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Settings:
    """packages: group:artifact:version, which Spark fetches. jars: paths or addresses of files."""

    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    packages: Sequence[str] = ()
    jars: Sequence[str] = ()

    @property
    def is_local(self) -> bool:
        """See `is_local`."""
        return is_local(self.options().get("spark.master", "local"))

    def options(self) -> dict[str, str]:
        """As Spark's own; packages and jars beside those that conf names."""
        options = {name: str(value) for name, value in self.conf.items()}
        if self.master is not None:
            options["spark.master"] = self.master
        for name, added in (("spark.jars.packages", self.packages), ("spark.jars", self.jars)):
            if added:
                options[name] = ",".join(filter(None, [options.get(name), *added]))
        return options


def is_local(master: object) -> bool:
    """Whether tasks run on this machine alone."""
    return str(master).startswith("local")
