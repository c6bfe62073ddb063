"""A model of dbt as a definition of a pipeline: its SQL as dbt itself compiles it, its config as clauses.

A view that it reads stands in its query, as an ephemeral model does: what is read through a view of the
catalogue could only be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dbt.compilation import Compiler

from dbsp.circuits.errors import ProgramError
from dbsp.declared.dbt.turns import Node

_MODELS = ("model", "seed", "snapshot")
# of a model's config, what this table can't have
_REFUSED = ("location_root", "clustered_by", "buckets", "options")


def nodes_of(manifest: Any) -> dict[str, Node]:
    """dbt's graph."""
    return {
        name: Node(_materialized(node), tuple(node.depends_on_nodes)) for name, node in manifest.nodes.items()
    }


def _materialized(node: Any) -> str | None:
    kind = str(node.resource_type)
    return str(node.config.materialized) if kind in _MODELS else None


class Models:
    """Of one run. config: dbt's, of the project and its profile."""

    def __init__(self, config: Any, manifest: Any) -> None:
        self._compiler = Compiler(config)
        self._manifest = manifest.deepcopy()
        for node in self._manifest.nodes.values():
            if _materialized(node) == "view":
                node.config.materialized = "ephemeral"

    def relation(self, name: str) -> str:
        """The model's table, in full."""
        node = self._manifest.nodes[name]
        return f"spark_catalog.{node.schema}.{node.identifier}"

    def statement(self, name: str) -> str:
        """Its definition. Raises ProgramError for a config that can't be had, and what dbt raises."""
        node = self._manifest.nodes[name]
        if str(node.language) != "sql":
            raise ProgramError(
                f"{node.original_file_path}: not supported yet: a model in Python as incremental_view; "
                "give it materialized='table'"
            )
        for key in _REFUSED:
            if node.config.get(key):
                raise ProgramError(
                    f"{node.original_file_path}: not supported yet: config '{key}' of an incremental_view; "
                    "leave it out"
                )
        for each in self._manifest.nodes.values():  # what an earlier compilation has left
            if hasattr(each, "extra_ctes"):
                each.compiled, each.extra_ctes, each.extra_ctes_injected = False, [], False
        query = str(self._compiler.compile_node(node, self._manifest, write=False).compiled_code)
        lines = [f"CREATE MATERIALIZED VIEW {self.relation(name)}", *_clauses(node.config), "AS"]
        return "\n".join((" ".join(lines), query.strip(), ";", ""))


def _clauses(config: Any) -> list[str]:
    given = []
    if config.get("file_format"):
        given.append(f"USING {config.get('file_format')}")
    partitions = config.get("partition_by")
    if partitions:
        names = [partitions] if isinstance(partitions, str) else partitions
        given.append(f"PARTITIONED BY ({', '.join(names)})")
    properties: Mapping[str, object] = config.get("tblproperties") or {}
    if properties:
        pairs = (f"{_text(str(key))} = {_text(str(value))}" for key, value in properties.items())
        given.append(f"TBLPROPERTIES ({', '.join(pairs)})")
    return given


def _text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
