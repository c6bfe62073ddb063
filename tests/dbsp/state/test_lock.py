"""One writer a directory: the lock names its holder, goes with its process, and knows when it is replaced."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from dbsp.circuits.errors import Overtaken, StateError
from dbsp.state.lock import Lock

HOLDING = """
import sys
from pathlib import Path
from dbsp.state.lock import Lock
lock = Lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_second_is_told_who_the_first_is(tmp_path: Path) -> None:
    first = Lock(tmp_path / "lock")
    with pytest.raises(StateError) as raised:
        Lock(tmp_path / "lock")
    assert str(raised.value) == (
        f"{tmp_path}: in use by process {os.getpid()} on {socket.gethostname()}; close it first, or use "
        "another state directory"
    )
    first.close()
    first.close()
    Lock(tmp_path / "lock").close()


def test_what_a_killed_process_held_is_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDING, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StateError, match=f"in use by process {holder.pid} "):
            Lock(tmp_path / "lock")
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    Lock(tmp_path / "lock").close()


def test_a_holder_that_says_nothing(tmp_path: Path) -> None:
    first = Lock(tmp_path / "lock")
    os.truncate(tmp_path / "lock", 0)
    with pytest.raises(StateError, match="in use by another process; "):
        Lock(tmp_path / "lock")
    first.close()


def test_a_file_under_another_name_is_no_lock(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "lock")
    lock.check()
    (tmp_path / "lock").rename(tmp_path / "other")
    with pytest.raises(Overtaken, match="lock: was deleted or replaced under its writer"):
        lock.check()
    (tmp_path / "lock").touch()
    with pytest.raises(Overtaken):
        lock.check()
    (tmp_path / "other").replace(tmp_path / "lock")
    lock.check()
    lock.close()


def test_a_directory_that_is_away_may_come_back(tmp_path: Path) -> None:
    root = tmp_path / "state"
    root.mkdir()
    lock = Lock(root / "lock")
    root.rename(tmp_path / "away")
    with pytest.raises(StateError, match="state: No such file") as raised:
        lock.check()
    assert not isinstance(raised.value, Overtaken)
    (tmp_path / "away").rename(root)
    lock.check()
    lock.close()
