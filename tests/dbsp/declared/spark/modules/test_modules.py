"""Modules run without a JVM, and what they say is the same however often they run."""

from __future__ import annotations

import pytest

from dbsp.circuits.errors import ProgramError
from dbsp.declared.spark.modules.messages import digest_of, messages_in
from dbsp.declared.spark.modules.modules import commands_of, modules_of

MODULE = """
from pyspark import pipelines as dp
from pyspark.sql import functions as F

@dp.materialized_view
def m():
    a, b = spark.read.table("a"), spark.read.table("b")
    return a.join(b, a.k == b.k).select(F.col("v") + {added})
"""


def digests(folder, text):
    file = folder / "m.py"
    file.write_text(text)
    return [digest_of(command) for command in commands_of(file, folder)]


def test_what_a_module_says_has_one_digest(tmp_path):
    once = digests(tmp_path, MODULE.format(added=1))
    assert len(once) == 2
    assert digests(tmp_path, "\n\n" + MODULE.format(added=1)) != once  # its lines are told, too
    assert digests(tmp_path, MODULE.format(added=1)) == once
    assert digests(tmp_path, MODULE.format(added=2))[1:] != once[1:]


def test_only_modules_in_python_run(tmp_path):
    (tmp_path / "m.py").write_text(MODULE.format(added=1))
    files = [tmp_path / "m.py", tmp_path / "m.sql"]
    found = modules_of(files, tmp_path, {})
    assert list(found) == files[:1]
    assert messages_in(found[files[0]]) == found[files[0]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 / 0", r"m\.py:1:1: ZeroDivisionError"),
        ("def f(:\n  pass", r"m\.py:1:1: SyntaxError: invalid syntax"),
        (
            "\ndef f():\n  return spark.sql('SELECT 1').columns\nf()",
            r"m\.py:3:1: .*asks Spark while it is read",
        ),
        (
            MODULE.format(added=1) + "\n\n@dp.materialized_view\ndef none():\n  pass\n",
            r"m\.py:\d+:1: the function of a dataset returns nothing; return a DataFrame",
        ),
        (
            "from pyspark.sql import functions as F\n@F.udf('int')\ndef f(x):\n  return x",
            r"m\.py:2:1: not supported yet: .*@udf with its type as a text",
        ),
        ("spark.sql('SELECT 1').columns", "asks Spark while it is read"),
        (
            MODULE.format(added=1).replace("materialized_view", "materialized_view(1, 2)"),
            "m.py:5:1: TypeError",
        ),
    ],
)
def test_what_a_module_may_not(tmp_path, text, said):
    with pytest.raises(ProgramError, match=said):
        digests(tmp_path, text)


def test_paths_of_a_module_are_of_the_specs_directory(tmp_path):
    (tmp_path / "names.txt").write_text("one two")
    text = (
        "from pathlib import Path\nfrom pyspark import pipelines as dp\n"
        "for name in Path('names.txt').read_text().split():\n"
        "    dp.materialized_view(name=name)(lambda: spark.range(3))\n"
    )
    assert len(digests(tmp_path, text)) == 4
