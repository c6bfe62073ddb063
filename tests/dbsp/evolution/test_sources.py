"""A checkpoint whose sources have other places: each source finds what it knew, and a new one nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbsp.evolution.sources import rearranged

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
