"""librdkafka's own functions, by which many messages are had at once.

The client for Python makes an object of each message, which costs more than all else that is done with it.
The library beneath it is the one that it brings, found through its module, which is linked against it: names
are looked for in what a library depends on, too. What is declared here is librdkafka's public interface.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_ssize_t, c_void_p
from functools import cache
from typing import Any

_MODULE = "confluent_kafka.cimpl"


class Message(ctypes.Structure):
    """`rd_kafka_message_t`: where a message lies, until it is given back."""

    _fields_ = [
        *(
            ("err", c_int),
            ("rkt", c_void_p),
            ("partition", c_int32),
            ("payload", c_void_p),
            ("len", c_size_t),
        ),
        *(("key", c_void_p), ("key_len", c_size_t), ("offset", c_int64), ("_private", c_void_p)),
    ]


class Part(ctypes.Structure):
    """`rd_kafka_metadata_partition_t`."""

    _fields_ = [
        *(("id", c_int32), ("err", c_int), ("leader", c_int32), ("replica_cnt", c_int)),
        *(("replicas", c_void_p), ("isr_cnt", c_int), ("isrs", c_void_p)),
    ]


class Topic(ctypes.Structure):
    """`rd_kafka_metadata_topic_t`."""

    _fields_ = [
        *(("topic", c_char_p), ("partition_cnt", c_int), ("partitions", POINTER(Part)), ("err", c_int)),
    ]


class Metadata(ctypes.Structure):
    """`rd_kafka_metadata_t`."""

    _fields_ = [
        *(("broker_cnt", c_int), ("brokers", c_void_p), ("topic_cnt", c_int), ("topics", POINTER(Topic))),
        *(("orig_broker_id", c_int32), ("orig_broker_name", c_char_p)),
    ]


CONSUMER = 1  # RD_KAFKA_CONSUMER
# of `rd_kafka_resp_err_t`
FAIL, PARTITION_EOF, INVALID_ARG, AUTO_OFFSET_RESET = -196, -191, -186, -140
# Functions that wait, and so let other threads of Python go on: results and parameters.
_WAITING: dict[str, tuple[Any, list[Any]]] = {
    "consume_batch_queue": (c_ssize_t, [c_void_p, c_int, c_void_p, c_size_t]),
    "consumer_close": (c_int, [c_void_p]),
    "destroy": (None, [c_void_p]),
    "metadata": (c_int, [c_void_p, c_int, c_void_p, POINTER(POINTER(Metadata)), c_int]),
    "query_watermark_offsets": (
        c_int,
        [c_void_p, c_char_p, c_int32, POINTER(c_int64), POINTER(c_int64), c_int],
    ),
}
# Those that don't.
_PROMPT: dict[str, tuple[Any, list[Any]]] = {
    "assign": (c_int, [c_void_p, c_void_p]),
    "conf_destroy": (None, [c_void_p]),
    "conf_new": (c_void_p, []),
    "conf_set": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t]),
    "err2str": (c_char_p, [c_int]),
    "error_code": (c_int, [c_void_p]),
    "error_destroy": (None, [c_void_p]),
    "error_string": (c_char_p, [c_void_p]),
    "get_watermark_offsets": (c_int, [c_void_p, c_char_p, c_int32, POINTER(c_int64), POINTER(c_int64)]),
    "incremental_assign": (c_void_p, [c_void_p, c_void_p]),
    "message_destroy": (None, [c_void_p]),
    "message_errstr": (c_char_p, [c_void_p]),
    "message_timestamp": (c_int64, [c_void_p, c_void_p]),
    "metadata_destroy": (None, [c_void_p]),
    "new": (c_void_p, [c_int, c_void_p, c_char_p, c_size_t]),
    "poll_set_consumer": (c_int, [c_void_p]),
    "queue_destroy": (None, [c_void_p]),
    "queue_get_consumer": (c_void_p, [c_void_p]),
    "topic_destroy": (None, [c_void_p]),
    "topic_name": (c_char_p, [c_void_p]),
    "topic_new": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "topic_partition_list_add": (c_void_p, [c_void_p, c_char_p, c_int32]),
    "topic_partition_list_destroy": (None, [c_void_p]),
    "topic_partition_list_new": (c_void_p, [c_int]),
    "topic_partition_list_set_offset": (c_int, [c_void_p, c_char_p, c_int32, c_int64]),
}


class Library:
    """Its functions, named without `rd_kafka_`. Raises OSError or AttributeError where they aren't there."""

    def __init__(self, path: str) -> None:
        for loaded, functions in ((ctypes.CDLL(path), _WAITING), (ctypes.PyDLL(path), _PROMPT)):
            for name, (result, parameters) in functions.items():
                function = getattr(loaded, f"rd_kafka_{name}")
                function.restype, function.argtypes = result, parameters
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


@cache
def library() -> Library | None:
    """None: the client isn't installed, or hides what is beneath it."""
    if importlib.util.find_spec("confluent_kafka") is None:
        return None
    module = importlib.util.find_spec(_MODULE)
    if module is None or module.origin is None:
        return None
    importlib.import_module(_MODULE)  # which loads the library from where its wheel has it
    try:
        return Library(module.origin)
    except (OSError, AttributeError):
        return None
