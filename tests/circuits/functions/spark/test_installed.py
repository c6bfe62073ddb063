"""Where Java and Spark's jars are, and what is said where they aren't."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from dbsp.circuits.errors import Error
from dbsp.circuits.functions.spark.installed import jars, java_path


def test_java_is_that_of_java_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(sys.executable)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java_path() == str(tmp_path / "bin" / "java")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "bin"))
    assert java_path() is None
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert java_path() == str(tmp_path / "bin" / "java")


def test_jars_are_those_of_spark_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    assert any(jars().glob("spark-catalyst*.jar"))
    (tmp_path / "jars").mkdir()
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert jars() == tmp_path / "jars"
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Error, match="needs Spark's jars here: set SPARK_HOME"):
        jars()
