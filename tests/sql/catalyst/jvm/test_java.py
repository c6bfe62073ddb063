"""Where Java is missing or old, one line says so and what to install."""

from __future__ import annotations

from pathlib import Path

import pytest

from dbsp.circuits.errors import Error
from dbsp.sql.catalyst import require_java


def test_no_java_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Error, match="Spark needs Java 17 or later: no java on the path; install"):
        require_java()


def test_a_java_home_without_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Error, match=f"JAVA_HOME={tmp_path} has no bin/java"):
        require_java()


@pytest.mark.parametrize(("version", "number"), [("1.8.0_392", 8), ("11.0.2", 11)])
def test_an_old_java(version: str, number: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").touch(mode=0o755)
    (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Error, match=f"is version {number}; "):
        require_java()


def test_java_is_asked_where_no_file_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"21.0.1\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    require_java()
    java.write_text("#!/bin/sh\necho 'openjdk version \"9.0.1\"' >&2\n")
    with pytest.raises(Error, match="is version 9; "):
        require_java()
