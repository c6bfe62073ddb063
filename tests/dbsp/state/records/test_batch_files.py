"""Where the files of a checkpoint are, that a record knows by their digests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dbsp.state.objects.path import ObjectPath
from dbsp.state.records.batch_files import batch_file, batch_object, digest_of, recorded
from tests.dbsp.state.objects.places import in_memory
from tests.dbsp.state.stores import commit

FILES = {"offsets/7": b"v1\n{}", "metadata": b"{}"}


def test_a_directory_and_a_store_have_the_same_files(tmp_path: Path) -> None:
    digests = {name: digest_of(content) for name, content in FILES.items()}
    last = replace(commit(1), batch=7, offsets=digests, checkpoint="checkpoint-3")
    store = ObjectPath(in_memory())
    for name, content in FILES.items():
        path = tmp_path / "checkpoint-3" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        batch_object(store, name, content).put(content)
        batch_object(store, name, b"of another writer").put(b"of another writer")
    for root in (tmp_path, store):
        found = {name: batch_file(root, "checkpoint-3", name, digest) for name, digest in digests.items()}
        assert {name: path.read_bytes() for name, path in found.items()} == FILES
    assert recorded(last) == digests
    assert recorded(commit(1)) == {}
