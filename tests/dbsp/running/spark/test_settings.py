from __future__ import annotations

from dbsp.running.spark.settings import Settings


def test_settings_are_options_of_spark():
    assert Settings().options() == {}
    given = Settings("local[1]", {"spark.jars": "a.jar", "spark.x": "1"}, ["g:a:1", "g:b:2"], ["b.jar"])
    assert given.options() == {
        "spark.master": "local[1]",
        "spark.x": "1",
        "spark.jars": "a.jar,b.jar",
        "spark.jars.packages": "g:a:1,g:b:2",
    }
