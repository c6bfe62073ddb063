"""Protobuf messages of one type as Arrow columns, and these as messages, by `ptars`.

A field without presence that a message leaves out is its type's zero, as Protobuf has it; one with presence
is NULL. An enum is its name; of a value without one the number. What is written is read again, and compared:
`ptars` leaves out what it can't write. Of a zero it leaves out the sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from dbsp.circuits.columns.equality import equal_rows
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

    def check_written(self) -> None:
        """Raises Error where a column can be NULL that its field has no word for."""
        there = pa.struct(_handler(self.descriptor, self.message).schema())
        for column in self.columns:
            if column.nullable and not there.field(column.name).nullable:
                cure = "declare it NOT NULL, or the field optional"
                raise Error(
                    f"column '{column.name}' can be NULL, and the field of '{self.message}' can't; {cure}"
                )
            if not _is_cast(column.type, there.field(column.name).type):
                given = there.field(column.name).type
                raise Error(f"column '{column.name}' is {column.type}, the field of '{self.message}' {given}")

    def encode(self, rows: pa.StructArray) -> pa.Array:
        """BINARY, NULL for NULL. Raises DataError for a row that the message can't hold."""
        there, handler = rows.drop_null(), _handler(self.descriptor, self.message)
        types = {field.name: field.type for field in handler.schema()}
        columns = [
            column.cast(_of_fields(column.type, types[name]))
            for name, column in zip(self.columns.names, there.flatten(), strict=True)
        ]
        given = pa.RecordBatch.from_arrays(columns, names=self.columns.names)
        messages = handler.record_batch_to_array(given)
        found = self._decoded(messages).flatten()
        for name, column, back in zip(self.columns.names, there.flatten(), found, strict=True):
            every = np.arange(len(back))
            unsigned = pc.add(column, 0.0) if pt.is_floating(column.type) else column  # −0.0 is 0.0
            same = equal_rows([unsigned.cast(back.type)], every, [back], every)
            if not same.all():
                value = column[int(np.argmin(same))].as_py()
                raise DataError(f"column '{name}' has {value!r}, which a message '{self.message}' can't hold")
        if len(there) == len(rows):
            return messages
        is_valid = np.asarray(rows.is_valid())
        return messages.take(pa.array(np.cumsum(is_valid) - 1, mask=~is_valid))

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


def _of_fields(type_: pa.DataType, there: pa.DataType) -> pa.DataType:
    """The column's type with those of the message's fields inside."""
    if pt.is_struct(type_) and pt.is_struct(there):
        return pa.struct([(f.name, _of_fields(f.type, there.field(f.name).type)) for f in type_])
    if pt.is_list(type_) and pt.is_list(there):
        return pa.list_(_of_fields(type_.value_type, there.value_type))
    if pt.is_map(type_) and pt.is_map(there):
        return pa.map_(there.key_type, _of_fields(type_.item_type, there.item_type))
    return there


def _is_cast(type_: pa.DataType, there: pa.DataType) -> bool:
    try:
        pa.nulls(0, type_).cast(_of_fields(type_, there)).cast(type_)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True


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
