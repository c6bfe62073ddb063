"""Messages that Protobuf's own library writes are decoded to their fields."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from dbsp.circuits.errors import DataError, Error
from dbsp.rows.protobuf import Protobuf

FIELD = descriptor_pb2.FieldDescriptorProto
TYPES = {
    "n": FIELD.TYPE_INT64,
    "u": FIELD.TYPE_UINT64,
    "text": FIELD.TYPE_STRING,
    "data": FIELD.TYPE_BYTES,
    "real": FIELD.TYPE_DOUBLE,
}


def written() -> tuple[bytes, Any]:
    """A FileDescriptorSet, and the class of its shop.Sale."""
    file = descriptor_pb2.FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    kind = file.enum_type.add(name="Kind")
    for number, name in enumerate(("NEW", "OLD")):
        kind.value.add(name=name, number=number)
    file.message_type.add(name="Point").field.add(name="x", number=1, type=FIELD.TYPE_INT32, label=1)
    sale = file.message_type.add(name="Sale")
    for number, (name, type_) in enumerate(TYPES.items(), 1):
        sale.field.add(name=name, number=number, type=type_, label=1)
    sale.oneof_decl.add(name="_maybe")
    sale.field.add(
        name="maybe", number=6, type=FIELD.TYPE_INT32, label=1, proto3_optional=True, oneof_index=0
    )
    sale.field.add(name="kind", number=7, type=FIELD.TYPE_ENUM, type_name=".shop.Kind", label=1)
    sale.field.add(name="many", number=8, type=FIELD.TYPE_INT32, label=3)
    sale.field.add(name="at", number=9, type=FIELD.TYPE_MESSAGE, type_name=".shop.Point", label=1)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Sale"))
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString(), found


COLUMNS = pa.struct(
    [
        ("kind", pa.string()),
        ("n", pa.int64()),
        ("u", pa.int64()),
        ("text", pa.string()),
        ("data", pa.binary()),
        ("real", pa.float64()),
        ("maybe", pa.int32()),
        ("many", pa.list_(pa.int32())),
        ("at", pa.struct([("x", pa.int32())])),
    ]
)


def test_what_was_encoded() -> None:
    descriptor, sale = written()
    full = {"kind": "OLD", "n": -(2**63), "u": 2**63 - 1, "text": "é", "data": b"\0", "real": 1.5}
    full |= {"maybe": 0, "many": [1, -1], "at": {"x": 2}}
    empty = {"kind": "NEW", "n": 0, "u": 0, "text": "", "data": b"", "real": 0.0}
    empty |= {"maybe": None, "many": [], "at": None}
    messages = [sale(**full).SerializeToString(), b""]
    found, why = Protobuf(descriptor, "shop.Sale", COLUMNS).decode(pa.array(messages, pa.binary()))
    assert why.null_count == 2
    assert found.type == COLUMNS
    assert found.to_pylist() == [full, empty]


def test_what_is_none_of_it_is_refused() -> None:
    descriptor, sale = written()
    decoder = Protobuf(descriptor, "shop.Sale", COLUMNS)
    for bad in (b"\xff", sale(text="long").SerializeToString()[:-1], sale(u=2**64 - 1).SerializeToString()):
        found, (fine, why) = decoder.decode(pa.array([b"", bad], pa.binary()))
        assert found.is_valid().to_pylist() == [True, False]
        assert not fine.is_valid and why.as_py().startswith("no message 'shop.Sale'")
    with pytest.raises(Error, match=r"no Protobuf message 'shop\.Other'"):
        Protobuf(descriptor, "shop.Other", COLUMNS)
    with pytest.raises(Error, match="no field 'no'; fields: n, u, text"):
        Protobuf(descriptor, "shop.Sale", pa.struct([("no", pa.int32())]))
    inside = pa.struct([("at", pa.struct([("x", pa.int32()), ("y", pa.int32())]))])
    with pytest.raises(Error, match=r"no field 'at\.y'; fields: x"):  # it would be NULL in every row
        Protobuf(descriptor, "shop.Sale", inside)


def test_what_is_written_is_read_back() -> None:
    descriptor, sale = written()
    columns = pa.struct([pa.field(f.name, f.type, f.name in ("maybe", "at")) for f in COLUMNS])
    of = Protobuf(descriptor, "shop.Sale", columns)
    of.check_written()
    full = {"kind": "OLD", "n": -(2**63), "u": 2**63 - 1, "text": "é", "data": b"\0", "real": 1.5}
    full |= {"maybe": 0, "many": [1, -1], "at": {"x": 2}}
    empty = {"kind": "NEW", "n": 0, "u": 0, "text": "", "data": b"", "real": float("nan")}
    empty |= {"maybe": None, "many": [], "at": None}
    rows = pa.array([full, None, empty], columns)
    messages = of.encode(rows)
    assert messages[1].as_py() is None
    assert sale.FromString(messages[0].as_py()).text == "é"
    assert str(of.decode(messages.drop_null())[0].to_pylist()) == str(rows.drop_null().to_pylist())


def test_what_a_message_can_t_hold() -> None:
    """The library would leave it out."""
    descriptor, _ = written()

    def of(name: str, type_: pa.DataType, nullable: bool = False) -> Protobuf:
        return Protobuf(descriptor, "shop.Sale", pa.struct([pa.field(name, type_, nullable)]))

    with pytest.raises(
        Error, match=r"column 'n' can be NULL, and the field of 'shop\.Sale' can't; declare it"
    ):
        of("n", pa.int64(), True).check_written()
    with pytest.raises(Error, match=r"column 'n' is list<item: int32>, the field of 'shop\.Sale' int64"):
        of("n", pa.list_(pa.int32())).check_written()
    for name, value in (("kind", "NO"), ("many", [1, None])):
        one = of(name, COLUMNS.field(name).type)
        with pytest.raises(
            DataError, match=rf"column '{name}' has .*, which a message 'shop\.Sale' can't hold"
        ):
            one.encode(pa.array([{name: value}], one.columns))
