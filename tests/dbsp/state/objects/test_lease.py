"""Who holds a state, as long as everybody's clock is right; and what a writer finds that slept."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.objects.bucket import Bucket
from dbsp.state.objects.lease import NAME, Holder, Lease
from tests.dbsp.state.objects.places import in_memory


def held_by(bucket: Bucket, **changed: object) -> None:
    """The object says so, whoever wrote it."""
    data, tag = bucket.get(NAME)
    bucket.replace(NAME, json.dumps({**json.loads(data), **changed}).encode(), tag)


def test_a_second_writer_is_told_who_holds_it() -> None:
    bucket = in_memory()
    first = Lease(bucket)
    with pytest.raises(StateError, match=r"in use by process \d+ on .+ ends in (60|5\d) s; close it first"):
        Lease(bucket)
    first.check()
    first.close()
    first.close()
    Lease(bucket).close()


def test_it_is_renewed_while_it_is_held() -> None:
    bucket = in_memory()
    lease = Lease(bucket, term=3)
    before = Holder.from_bytes(bucket.get(NAME)[0], "")
    deadline = time.monotonic() + 60
    while (now := Holder.from_bytes(bucket.get(NAME)[0], "")).until == before.until:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert now.until > before.until
    lease.check()
    lease.close()


def test_one_that_has_expired_is_taken_over_and_its_holder_finds_out() -> None:
    bucket = in_memory()
    slept = Lease(bucket)
    held_by(bucket, until=0.0)
    second = Lease(bucket)
    slept._until = 0.0  # by its clock, too
    for _ in range(2):
        with pytest.raises(Overtaken, match="taken the state over, and this writer has stopped"):
            slept.check()
    slept.close()  # leaves the other's alone
    second.renew()
    second.check()
    second.close()


def test_one_of_a_process_that_is_gone_is_taken_over_at_once() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    bucket = in_memory()
    Lease(bucket)
    held_by(bucket, process=ended.pid)
    Lease(bucket).close()


def test_one_of_another_host_is_waited_for() -> None:
    bucket = in_memory()
    Lease(bucket)
    held_by(bucket, host="elsewhere", process=1)
    with pytest.raises(StateError, match="in use by process 1 on elsewhere"):
        Lease(bucket)


def test_a_lease_that_is_none() -> None:
    bucket = in_memory()
    bucket.create(NAME, b"{")
    with pytest.raises(StateError, match="damaged: it is no lease"):
        Lease(bucket)
