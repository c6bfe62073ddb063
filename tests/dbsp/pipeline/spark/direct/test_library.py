"""The library beneath the client for Python is found, or it is said that it isn't there."""

from __future__ import annotations

import ctypes
import importlib.util

import confluent_kafka
import pytest

from dbsp.pipeline.spark.direct import library
from dbsp.pipeline.spark.direct.library import Library, Message


def test_it_is_the_one_that_the_client_has() -> None:
    found = library.library()
    assert found is not None
    version = ctypes.PyDLL(confluent_kafka.cimpl.__file__).rd_kafka_version
    assert version() == confluent_kafka.libversion()[1]
    assert found.err2str(-191) == b"Broker: No more messages"
    with pytest.raises(AttributeError, match="no_such_function"):
        found.no_such_function  # noqa: B018


def test_structures_are_laid_out_as_a_compiler_does_it() -> None:
    """Of a machine of 64 bits."""
    offsets = {name: getattr(Message, name).offset for name, *_ in Message._fields_}
    assert [*offsets.values()] == [0, 8, 16, 24, 32, 40, 48, 56, 64]
    assert ctypes.sizeof(Message) == 72


def test_what_has_no_such_functions_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(AttributeError):
        Library(importlib.util.find_spec("_ctypes").origin)  # type: ignore[union-attr,arg-type]
    monkeypatch.setattr(library, "_MODULE", "_ctypes")
    library.library.cache_clear()
    assert library.library() is None
    monkeypatch.undo()
    library.library.cache_clear()
    assert library.library() is not None
