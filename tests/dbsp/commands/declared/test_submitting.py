"""What spark-submit would take, and how it reads it."""

from __future__ import annotations

import sys

import click
import pytest
from click.testing import CliRunner

from dbsp.commands.cli import main
from dbsp.commands.declared.submitting import submit_options
from dbsp.commands.process.options import settings_of, spark_options
from tests.dbsp.commands.declared import test_running

project = test_running.project  # the fixture


@click.command()
@spark_options
@submit_options
def command(**options):
    for name, value in settings_of(options).conf.items():
        click.echo(f"{name} is {value}")


def test_lines_are_settings_and_conf_wins(tmp_path):
    file = tmp_path / "spark.conf"
    file.write_text("# a\n! b\n\nspark.a 1 2\nspark.b=3\n spark.c : 4\nother 5\nspark.d\nspark.e = x = y\n")
    ran = CliRunner().invoke(command, ["--conf", "spark.b=6", "--properties-file", str(file)])
    assert ran.output.splitlines() == [
        "spark.a is 1 2",
        "spark.b is 6",
        "spark.c is 4",
        "spark.d is ",
        "spark.e is x = y",
    ]
    file.write_text("spark.a 1\nspark.b \\\n  2\n")
    refused = CliRunner().invoke(command, ["--properties-file", str(file)])
    assert (refused.exit_code, "spark.conf:2: " in refused.output) == (2, True)


def test_modules_are_on_the_path(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path / "first"))
    for name in ("a.py", "b.zip", "c.txt"):
        (tmp_path / name).write_text("")
    assert CliRunner().invoke(command, ["--py-files", f"{tmp_path}/a.py,{tmp_path}/b.zip"]).exit_code == 0
    assert sys.path[:3] == [str(tmp_path), str(tmp_path / "b.zip"), str(tmp_path / "first")]
    refused = CliRunner().invoke(command, ["--py-files", f"{tmp_path}/c.txt"])
    assert "give files .py, .zip or .egg" in refused.output


@pytest.mark.spark
def test_what_spark_submit_would_take(project, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))  # what the command puts before it goes with it
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "shared_names.py").write_text("NAME, LEAST = 'of_shared', 1\n")
    (tmp_path / "spark.conf").write_text("# ours\nspark.shop.least  1\nspark.shop.name=x\nother: 2\n")
    text = (
        "from pyspark import pipelines as dp\nimport shared_names\n"
        "@dp.materialized_view(name=shared_names.NAME)\n"
        "def m():\n    least = spark.conf.get('spark.shop.least'), spark.conf.get('spark.shop.name')\n"
        "    return spark.sql(f'SELECT a, {least[1]!r} AS n FROM t WHERE a > {least[0]}')\n"
    )
    project.write(text, "definitions.py")
    options = ["--py-files", "lib/shared_names.py", "--properties-file", "spark.conf"]
    ran = CliRunner().invoke(main, ["pipeline", "run", *options, "--conf", "spark.shop.name=y"])
    assert ran.exit_code == 0, ran.output
    assert project.rows("of_shared") == [(2, "y")]
