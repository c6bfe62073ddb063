from __future__ import annotations

import subprocess
import sys

import pytest

from dbsp.circuits.errors import Error
from dbsp.declared.spark.spec import read_spec


def spec(tmp_path, text, name="spark-pipeline.yml"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_a_spec_of_this_directory_or_one_around_it(tmp_path, monkeypatch):
    spec(tmp_path, "name: x\nstorage: file:///tmp/a b\nlibraries:\n  - glob:\n      include: t/**\n")
    (tmp_path / "t" / "deep").mkdir(parents=True)
    for name in ("b.sql", "deep/a.sql"):
        (tmp_path / "t" / name).write_text("")
    monkeypatch.chdir(tmp_path / "t")
    found = read_spec(None)
    assert (found.name, found.storage) == ("x", "/tmp/a b")
    assert [file.name for file in found.files()] == ["b.sql", "a.sql"]
    (tmp_path / "t" / "c.txt").write_text("")
    with pytest.raises(Error, match=r"c\.txt"):
        found.files()


def test_libraries_that_name_no_file(tmp_path):
    found = read_spec(
        spec(tmp_path, "name: x\nstorage: file:///y\nlibraries:\n  - glob:\n      include: t/**\n")
    )
    with pytest.raises(
        Error, match=rf"spark-pipeline.yml: its libraries name no file in {tmp_path}: t/\*\*$"
    ):
        found.files()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: x\n", "PIPELINE_SPEC_MISSING_REQUIRED_FIELD.*storage"),
        ("name: x\nstorage: y\nother: 1\n", "PIPELINE_SPEC_UNEXPECTED_FIELD.*other"),
        ("name: x\nstorage: y\nconfiguration: 1\n", "PIPELINE_SPEC_FIELD_NOT_DICT"),
        ("name: x\nstorage: y\nlibraries:\n  - glob:\n      include: a/*/b.sql\n", "INVALID_GLOB_PATTERN"),
        ("name: x\nstorage: y\nlibraries:\n  - include: a\n", "no spec of a pipeline"),
        ("name: [\n", "no YAML"),
        ("", "no spec of a pipeline"),
    ],
)
def test_what_is_wrong_is_said_in_pysparks_words(tmp_path, text, message):
    with pytest.raises(Error, match=message):
        read_spec(spec(tmp_path, text))


def test_a_file_that_isnt_there(tmp_path, monkeypatch):
    with pytest.raises(Error, match="PIPELINE_SPEC_FILE_DOES_NOT_EXIST"):
        read_spec(str(tmp_path / "x.yml"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Error, match="PIPELINE_SPEC_FILE_NOT_FOUND"):
        read_spec(None)


_READ = """
import sys
from dbsp.declared.spark.spec import read_spec
found = read_spec(None)
print(found.path, found.name, found.storage, dict(found.read.configuration), "pyspark" in sys.modules)
"""


@pytest.mark.slow
def test_a_spec_that_is_known_is_read_without_pyspark(tmp_path):
    def read(name, folder=tmp_path):
        command = [sys.executable, "-c", _READ]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        *said, imported = ran.stdout.split()
        assert " ".join(said) == f"{tmp_path / name} x {tmp_path} {{'a.b': '1'}}", ran.stderr
        return imported == "True"

    text = f"name: x\nstorage: {tmp_path}\nconfiguration:\n  a.b: '1'\n"
    spec(tmp_path, text)
    (tmp_path / "below").mkdir()
    assert [read("spark-pipeline.yml"), read("spark-pipeline.yml", tmp_path / "below")] == [True, False]
    spec(tmp_path, f"{text}libraries: []\n")
    assert [read("spark-pipeline.yml"), read("spark-pipeline.yml")] == [True, False]
    spec(tmp_path, text, "spark-pipeline.yaml")
    with (
        pytest.raises(Error, match="MULTIPLE_PIPELINE_SPEC_FILES_FOUND"),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.chdir(tmp_path)
        read_spec(None)
