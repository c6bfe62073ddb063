"""The classes of forms, which are kept by name."""

from __future__ import annotations

from importlib import import_module


def locate(name: str) -> type:
    """The class of that name."""
    module, _, own = name.rpartition(".")
    found = getattr(import_module(module), own)
    assert isinstance(found, type) and found.__module__ == module, f"{name}: imported from elsewhere"
    return found
