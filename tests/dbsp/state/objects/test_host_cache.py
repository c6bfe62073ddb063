"""A host's copies: bounded, whole, brought once, and nobody else's."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dbsp.circuits.errors import StateError
from dbsp.state.objects.host_cache import HostCache, bound


def filled(cache: HostCache, name: str, size: int) -> None:
    cache.bring(name, lambda path: _write(path, size), None)


def _write(path: Path, size: int) -> None:
    path.write_bytes(b"x" * size)


def there(cache: HostCache) -> set[str]:
    return {path.name for path in cache.directory.iterdir() if not path.name.startswith("lock-")}


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    cache = HostCache("s3://b/s", tmp_path, limit=1000)
    for i, name in enumerate("abc"):
        filled(cache, name, 400 if name == "c" else 300)
        os.utime(cache.path(name), (i, i))
    assert there(cache) == {"a", "b", "c"}
    cache.used("a")
    filled(cache, "d", 200)
    assert there(cache) == {"a", "c", "d"}


def test_one_bound_for_all_states_of_a_host(tmp_path: Path) -> None:
    caches = [HostCache(f"s3://b/{i}", tmp_path, limit=1000) for i in range(2)]
    filled(caches[0], "a", 600)
    os.utime(caches[0].path("a"), (0, 0))
    filled(caches[1], "a", 600)
    assert [there(cache) for cache in caches] == [set(), {"a"}]


def test_two_who_want_a_copy_bring_it_once(tmp_path: Path) -> None:
    brought = []

    def bring(_: int) -> None:
        def write(path: Path) -> None:
            brought.append(path)
            time.sleep(0.02)
            _write(path, 1)

        HostCache("s3://b/s", tmp_path, limit=1000).bring("a", write, None)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(bring, range(4)))
    assert len(brought) == 1


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path) -> None:
    cache = HostCache("s3://b/s", tmp_path, limit=1000)

    def fail(path: Path) -> None:
        _write(path, 3)
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError):
        cache.bring("a", fail, None)
    assert there(cache) == set()


def test_a_damaged_copy_is_brought_anew(tmp_path: Path) -> None:
    cache = HostCache("s3://b/s", tmp_path, limit=1000)
    filled(cache, "a", 3)
    cache.bring("a", lambda path: _write(path, 5), cache.stat("a"))
    assert cache.path("a").stat().st_size == 5


def test_a_directory_that_others_may_write_is_refused(tmp_path: Path) -> None:
    HostCache("s3://b/s", tmp_path, limit=1).directory.chmod(0o777)
    with pytest.raises(StateError, match=r"others may write it.*DBSP_CACHE names another place"):
        HostCache("s3://b/s", tmp_path, limit=1)


def test_a_bound_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBSP_CACHE_BYTES", "10 GB")
    with pytest.raises(StateError, match="DBSP_CACHE_BYTES=10 GB: give a number of bytes"):
        bound()
