"""What the reading of a project follows from is in its key."""

from __future__ import annotations

import pytest

from dbsp.declared.remembered.key import key_of


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spark-pipeline.yml").write_text("name: x")
    (tmp_path / "a.sql").write_text("SELECT 1")
    return tmp_path


def key(project, said=("digest",), **options):
    return key_of(project / "spark-pipeline.yml", [project / "a.sql"], said, options).text


def test_the_same_is_the_same(project):
    assert key(project) == key(project)


def test_each_of_them_is_in_it(project, monkeypatch, tmp_path_factory):
    seen = [key(project), key(project, said=["another"]), key(project, master="local[1]")]
    (project / "a.sql").write_text("SELECT 2")
    seen.append(key(project))
    (project / "spark-pipeline.yml").write_text("name: y")
    seen.append(key(project))
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    seen.append(key(project))
    conf = tmp_path_factory.mktemp("conf")
    monkeypatch.setenv("SPARK_CONF_DIR", str(conf))
    seen.append(key(project))
    (conf / "spark-defaults.conf").write_text("spark.sql.ansi.enabled false")
    seen.append(key(project))
    monkeypatch.chdir(conf)
    seen.append(key(project))
    assert len(set(seen)) == len(seen)
