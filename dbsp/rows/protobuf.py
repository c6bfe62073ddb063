"""Protobuf messages of one type as Arrow columns, decoded by `ptars`.

A field without presence that a message leaves out is its type's zero, as Protobuf has it; one with presence
is NULL. An enum is its name; of a value without one the number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from dbsp.circuits.errors import DataError, Error
from dbsp.rows.binary import halved


@dataclass(frozen=True)
class Protobuf:
    """descriptor: a FileDescriptorSet with its imports. message: a full name. columns: fields, by name.

    Raises Error for a message that isn't there, or one without a column.
    """

    descriptor: bytes
    message: str
    columns: pa.StructType

    def __post_init__(self) -> None:
        there = pa.struct(_handler(self.descriptor, self.message).schema())
        self._check_fields(self.columns, there, "")

    def decode(self, values: pa.Array) -> tuple[pa.StructArray, pa.Array]:
        """(rows, of each why it is none). values: BINARY, none NULL. A row that is none is NULL."""
        return halved(self._decoded, values, self.columns)

    def _decoded(self, values: pa.Array) -> pa.StructArray:
        try:
            batch = _handler(self.descriptor, self.message).array_to_record_batch(values)
            columns = [batch.column(column.name).cast(column.type) for column in self.columns]
        except (ValueError, TypeError, NotImplementedError) as error:
            raise DataError(f"no message '{self.message}': {error}") from error
        return pa.StructArray.from_arrays(columns, fields=list(self.columns))

    def _check_fields(self, wanted: pa.DataType, there: pa.DataType, before: str) -> None:
        """Raises Error where a struct has a field that the message's hasn't: it would always be NULL."""
        if pt.is_struct(wanted) and pt.is_struct(there):
            for field in wanted:
                if field.name not in there.names:
                    raise Error(
                        f"message '{self.message}' has no field '{before}{field.name}'; "
                        f"fields: {', '.join(there.names)}"
                    )
                self._check_fields(field.type, there.field(field.name).type, f"{before}{field.name}.")
        elif pt.is_list(wanted) and pt.is_list(there):
            self._check_fields(wanted.value_type, there.value_type, before)
        elif pt.is_map(wanted) and pt.is_map(there):
            self._check_fields(wanted.item_type, there.item_type, before)


@lru_cache(maxsize=64)
def _handler(descriptor: bytes, message: str) -> Any:
    try:
        import ptars  # noqa: PLC0415 — an extra
        from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415
        from google.protobuf import message as messages  # noqa: PLC0415
    except ImportError:
        raise Error("format = 'protobuf' needs ptars: pip install 'dbsp[protobuf]'") from None
    pool = descriptor_pool.DescriptorPool()
    try:
        for file in descriptor_pb2.FileDescriptorSet.FromString(descriptor).file:
            pool.Add(file)
        found = pool.FindMessageTypeByName(message)
    except (KeyError, TypeError, messages.DecodeError) as error:
        cure = "write the descriptor with protoc --include_imports --descriptor_set_out=FILE"
        raise Error(
            f"there is no Protobuf message '{message}' in the descriptor ({error}); {cure}"
        ) from error
    config = ptars.PtarsConfig(timestamp_unit="us", enum_repr="string")
    return ptars.HandlerPool([found.file], config).get_for_message(found)
