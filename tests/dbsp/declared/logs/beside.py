"""Commits of a Delta table that delete rows beside its files, as Delta's own writers make them."""

from __future__ import annotations

import base64
import json
import struct
import uuid
import zlib

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from pyroaring import BitMap64

from dbsp.declared.logs.vectors import _AS_B85

_BACK = {new: old for old, new in _AS_B85.items()}
FEATURES = {
    "minReaderVersion": 3,
    "minWriterVersion": 7,
    "readerFeatures": ["deletionVectors"],
    "writerFeatures": ["deletionVectors"],
}


def change_rows_beside(random_, place):
    """Of one file other rows are deleted than before: more, or fewer, as RESTORE does."""
    table, log = DeltaTable(place), place / "_delta_log"
    adds = [action["add"] for action in actions(place) if "add" in action]
    there = {file["path"] for file in pa.table(table.get_add_actions(flatten=True)).to_pylist()}
    last = {add["path"]: add for add in adds if unquoted(add["path"]) in there}
    if not last:
        return
    said = last[random_.choice(sorted(last))]
    before = vectors(table).get(unquoted(said["path"]), set())
    count = json.loads(said["stats"])["numRecords"]
    deleted = {n for n in range(count) if random_.random() < 0.4}
    after = deleted if random_.random() < 0.3 else before | deleted
    if after == before:
        return
    kind = random_.choice(["file", "inline"])
    vector = {"deletionVector": stored(place, after, kind)} if after else {}
    bare = {name: value for name, value in said.items() if name != "deletionVector"}
    removed = {"path": said["path"], "partitionValues": said["partitionValues"], "dataChange": True}
    if said.get("deletionVector"):
        removed["deletionVector"] = said["deletionVector"]
    entries = [{"commitInfo": {"operation": "DELETE"}}]
    protocol = table.protocol()
    if "deletionVectors" not in (protocol.reader_features or ()):
        entries.append({"protocol": FEATURES if not mapped(table) else with_mapping()})
    both = [{"remove": removed}, {"add": {**bare, **vector, "dataChange": True}}]
    random_.shuffle(both)
    text = "\n".join(map(json.dumps, [*entries, *both])) + "\n"
    (log / f"{table.version() + 1:020}.json").write_text(text)


def mapped(table):
    return "delta.columnMapping.mode" in table.metadata().configuration


def with_mapping():
    features = ["columnMapping", "deletionVectors"]
    return {**FEATURES, "readerFeatures": features, "writerFeatures": features}


def actions(place):
    for entry in sorted((place / "_delta_log").glob("*.json")):
        yield from map(json.loads, entry.read_text().splitlines())


def unquoted(path):
    return path.replace("%20", " ").replace("%2F", "/").replace("%25", "%")


def vectors(table):
    """By delta-rs: of each file the rows that are deleted."""
    found = pa.table(table.deletion_vectors()).to_pylist()
    root = table.table_uri.rstrip("/") + "/"
    return {
        unquoted(row["filepath"].removeprefix(root)): set(np.flatnonzero(~np.array(row["selection_vector"])))
        for row in found
    }


def stored(place, rows, kind):
    """The descriptor of a vector, which is in a file of its own, behind another, or inline."""
    data = struct.pack("<i", 1681511377) + BitMap64(sorted(map(int, rows))).serialize()
    said = {"sizeInBytes": len(data), "cardinality": len(rows)}
    if kind == "inline":
        return {"storageType": "i", "pathOrInlineDv": z85(data + b"\0" * (-len(data) % 4)), **said}
    name, other = uuid.uuid4(), b"another"
    framed = struct.pack(">i", len(data)) + data + struct.pack(">I", zlib.crc32(data))
    (place / "ab").mkdir(exist_ok=True)
    (place / "ab" / f"deletion_vector_{name}.bin").write_bytes(b"\1" + other + framed)
    offset = 1 + len(other)
    return {"storageType": "u", "pathOrInlineDv": "ab" + z85(name.bytes), "offset": offset, **said}


def z85(data):
    return base64.b85encode(data).decode().translate(_BACK)
