"""A checkpoint whose sources have other places: each source finds what it knew, and a new one nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.circuits.errors import StateError
from dbsp.evolution.sources import moved, rearranged
from dbsp.state.records.batch_files import digest_of
from tests.dbsp.state.stores import commit

NAMES = ["a", "b", "c", "d"]
ORDER = st.permutations(NAMES).flatmap(lambda names: st.integers(0, 4).map(lambda n: names[:n]))


def checkpoint(names: list[str]) -> dict[str, bytes]:
    lines = [f'{{"logOffset":{ord(name)}}}' for name in names]
    found = {f"sources/{i}/{n}": f"{name}{n}".encode() for i, name in enumerate(names) for n in (8, 9)}
    return found | {
        "metadata": b"{}",
        **{f"offsets/{n}": "\n".join(["v1", f"{n}", *lines]).encode() for n in (3, 4)},
    }


def known(files: dict[str, bytes], names: list[str]) -> dict[str, list[str]]:
    """What each source knows."""
    found = {}
    for i, name in enumerate(names):
        offsets = [files[f"offsets/{n}"].decode().split("\n")[2:][i] for n in (3, 4)]
        found[name] = offsets + [
            files[f"sources/{i}/{n}"].decode() for n in (8, 9) if f"sources/{i}/{n}" in files
        ]
    return found


@given(ORDER, ORDER)
def test_each_source_knows_what_it_knew(before: list[str], now: list[str]) -> None:
    files = checkpoint(before)
    moved = rearranged(files, before, now)
    there, nothing = known(files, before), ["-", "-"]
    assert known(moved, now) == {name: there.get(name, nothing) for name in now}
    assert {name.split("/")[1] for name in moved if name.startswith("sources/")} == {
        str(i) for i, name in enumerate(now) if name in before
    }
    assert [moved[f"offsets/{n}"].decode().split("\n")[:2] for n in (3, 4)] == [["v1", "3"], ["v1", "4"]]
    assert moved["metadata"] == b"{}"
    assert rearranged(files, before, before) == files


def test_what_isn_t_known_is_refused() -> None:
    with pytest.raises(ValueError, match="offsets/3 has 2 sources, and the program had 1"):
        rearranged(checkpoint(["a", "b"]), ["a"], ["a", "b"])
    with pytest.raises(ValueError, match="offsets/0 is of version v2"):
        rearranged({"offsets/0": b"v2\n{}\n{}"}, ["a"], ["b"])


@pytest.mark.parametrize("name", checkpoint(["a"]))
def test_what_is_damaged_gets_no_digest_that_says_it_is_right(tmp_path: Path, name: str) -> None:
    files = checkpoint(["a"])
    for path, content in files.items():
        (tmp_path / "checkpoint" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkpoint" / path).write_bytes(content)
    last = replace(commit(3), batch=4, offsets={path: digest_of(content) for path, content in files.items()})
    damaged = tmp_path / "checkpoint" / name
    for problem in ("isn't what it was when its batch was committed", "is missing"):
        if problem == "is missing":
            damaged.unlink()
        else:
            damaged.write_bytes(files[name][:-1] + bytes([files[name][-1] ^ 1]))
        with pytest.raises(StateError, match=rf"{damaged}: damaged: the file {problem}, .* of step 3 ended"):
            moved(tmp_path, last, ["a"], ["b", "a"], 4, durable=False)
        assert not (tmp_path / "checkpoint-4").exists()
    damaged.write_bytes(files[name])
    folder, digests = moved(tmp_path, last, ["a"], ["b", "a"], 4, durable=False)
    assert (folder, digests) == (
        "checkpoint-4",
        {path: digest_of(content) for path, content in rearranged(files, ["a"], ["b", "a"]).items()},
    )
