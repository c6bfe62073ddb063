"""Compiled values as text that is equal in every process, for fingerprints."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

_SILENT = {"location", "text", "format", "options"}  # where it was written; how rows come and go


def canonical_text(value: object) -> str:
    """Dataclasses by class and fields, dicts in their order, anything else by repr."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = [
            f"{f.name}={canonical_text(getattr(value, f.name))}"
            for f in fields(value)
            if f.compare and f.name not in _SILENT
        ]
        # a call's options are part of its meaning, a table's of its feed
        if type(value).__name__ in ("Call", "AggregateCall"):
            inner.append(f"options={value.options!r}")  # type: ignore[attr-defined]
        return f"{type(value).__name__}({', '.join(inner)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {canonical_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(canonical_text(item) for item in value) + ")"
    return str(value) if not isinstance(value, str) else repr(value)
