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


def test_only_tasks_of_this_process_need_no_way_to_the_driver() -> None:
    assert Settings().is_local
    assert Settings("local[2]").is_local
    assert not Settings("spark://host:7077").is_local
    assert not Settings(conf={"spark.master": "yarn"}).is_local
