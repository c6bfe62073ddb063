"""Where Java is missing or old, one line says what to install."""

from __future__ import annotations

import pytest

from circuits.errors import Error
from dbsp.spark.java import require_java


@pytest.fixture
def java(tmp_path, monkeypatch):
    """Installs a Java of some version under JAVA_HOME."""

    def install(version: str, release: bool) -> None:
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "java"
        program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
        program.chmod(0o755)
        if release:
            (tmp_path / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
        monkeypatch.setenv("JAVA_HOME", str(tmp_path))

    return install


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.1"])
def test_a_new_enough_java_will_do(java, version, release):
    java(version, release)
    require_java()


@pytest.mark.parametrize("release", [True, False])
@pytest.mark.parametrize(("version", "major"), [("1.8.0_392", 8), ("11.0.2", 11)])
def test_an_old_java_is_refused(java, version, major, release):
    java(version, release)
    with pytest.raises(Error, match=rf"Spark needs Java 17 or later: .*java is version {major}; install"):
        require_java()


def test_no_java_on_the_path(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Error, match=r"no java on the path; install"):
        require_java()


def test_a_java_home_without_java(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(Error, match=r"JAVA_HOME=.* has no bin/java"):
        require_java()
