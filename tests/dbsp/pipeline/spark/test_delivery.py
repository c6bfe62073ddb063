"""Sinks get each step once, wherever a run dies, and nothing is added to what another state wrote."""

from __future__ import annotations

import shutil

import pytest
from click.testing import CliRunner

import dbsp.pipeline.sinks
from dbsp.circuits.errors import StateError
from dbsp.commands.cli import main
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.sinks import Sinks
from dbsp.pipeline.spark.sinks import Files
from dbsp.sql.compiler.load import compile_program, load_program
from dbsp.state.records.delivered import Delivery, write_delivered
from tests.dbsp.pipeline.spark.shop import EXPECTED, SOLD, TEXT, changelog, opened, sell
from tests.dbsp.synced import synced_paths

pytestmark = pytest.mark.spark


def test_a_run_that_dies_between_commit_and_sink_writes_the_sink_later(spark, shop, monkeypatch):
    sell(shop, "3")
    write = Files._write

    def die(files, step, changes):
        if step == 2:
            raise OSError("no space left on device")
        write(files, step, changes)

    with monkeypatch.context() as patched, opened(spark, shop) as p:
        patched.setattr(Files, "_write", die)
        with pytest.raises(DeliveryError, match="table 'changelog': step 2 was not written: no space left"):
            p.run(once=True)
        assert p.last_step == 2
    with opened(spark, shop) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


def test_a_step_that_is_written_again_replaces_itself(spark, shop):
    sell(shop, "3")
    with opened(spark, shop) as p:
        p.run(once=True)
        behind = {"changelog": Delivery(1), "alarms": Delivery(3)}
        write_delivered(p.store.root, behind, durable=True)
        Sinks(p).catch_up()
    assert changelog(spark, shop) == EXPECTED


def test_files_are_on_disk_before_they_are_recorded_as_delivered(spark, shop, monkeypatch):
    synced, write, missing = synced_paths(monkeypatch), dbsp.pipeline.sinks.write_delivered, []

    def check(root, delivered, durable):
        for sink in ("changelog", "alarms"):
            directory = shop / sink
            if not directory.exists():
                continue
            needed = [directory, directory.parent]
            for partial in directory.glob("__step=*"):
                names = [path.name for path in partial.iterdir()]
                needed += [directory / "_partial", *(directory / "_partial" / name for name in names)]
            missing.append([path for path in needed if str(path) not in synced])
        write(root, delivered, durable)

    monkeypatch.setattr(dbsp.pipeline.sinks, "write_delivered", check)
    with opened(spark, shop) as p:
        p.run(once=True)
    assert len(missing) >= 2 and not any(missing)


def test_damage_to_what_a_sink_is_to_be_given_is_named(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
        write_delivered(p.store.root, {}, durable=True)
        for step in shop.glob("*/__step=*"):  # a step that is there isn't written again
            shutil.rmtree(step)
        for path in (shop / "state" / "segments").iterdir():
            path.write_bytes(bytes(len(path.read_bytes())))
        with pytest.raises(
            DeliveryError, match=r"segments/.*: damaged: the chunk of the changes of view '.*' in step 1"
        ):
            Sinks(p).catch_up()


def test_a_delivery_of_steps_that_are_not_there_is_noticed(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    for name in ("last", "000000000002.json"):
        (shop / "state" / "commits" / name).unlink()
    with (
        opened(spark, shop) as p,
        pytest.raises(StateError, match=r"delivered.json: step 2 .* --restore-to 1"),
    ):
        p.run(once=True)


def test_what_another_state_wrote_is_not_added_to(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    (shop / "state").rename(shop / "old")
    message = (
        rf"table 'changelog': __step=1 to __step=2 are in {shop}/changelog already, and the last step of the "
        rf"state {shop}/state is 0: .*; delete what is there, or give another path"
    )
    with opened(spark, shop) as p:
        with pytest.raises(StateError, match=message):
            p.run(once=True)
        p.insert("product", [(3, "c")])
        with pytest.raises(StateError, match=message):
            p.step()
        assert p.last_step == 0
    assert changelog(spark, shop) == EXPECTED[:4]
    shutil.rmtree(shop / "changelog")
    (shop / "alarms" / "__step=2").rename(shop / "elsewhere")
    with opened(spark, shop) as p:
        p.run(once=True)
    assert changelog(spark, shop) == EXPECTED[:4]


def test_another_path_has_what_was_written_to_the_one_before(spark, shop):
    """Or is refused, at each opening; its files may be moved there."""
    with opened(spark, shop) as p:
        p.run(once=True)
    text = TEXT.replace("{0}/changelog", "{0}/moved")
    message = (
        rf"table 'changelog': __step=2 is not in {shop}/moved: it was written to {shop}/changelog; move what"
    )
    for _ in range(2):
        with opened(spark, shop, text) as p:
            sell(shop, "3")
            with pytest.raises(StateError, match=message):
                p.run(once=True)
            assert p.last_step == 2
    (shop / "changelog").rename(shop / "moved")
    for _ in range(2):
        with opened(spark, shop, text) as p:
            p.run(once=True)
    (shop / "moved").rename(shop / "changelog")
    assert changelog(spark, shop) == EXPECTED


def test_a_path_that_lacks_everything_is_one_of_a_sink_that_is_begun_anew(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    text = TEXT.replace("{0}/changelog", "{0}/anew")
    begin, end = text.index("CREATE TABLE changelog"), text.index("CREATE TABLE alarms")
    for program in (text[:begin] + text[end:], text):
        made = compile_program(program.format(shop), session=spark)
        with Pipeline(made, state=shop / "state", spark=spark, runner="inline", evolve=True) as p:
            p.run(once=True)
    rows = spark.read.parquet(str(shop / "anew")).collect()
    assert sorted((row["name"], row["sales"], row["__weight"]) for row in rows) == [("a", 2, 1), ("b", 1, 1)]


def test_steps_made_by_hand_or_by_a_replay_reach_the_sinks(spark, shop):
    """Before a run, between two, and by `dbsp step`; none is written twice."""
    (shop / "program.sql").write_text(TEXT.format(shop))
    load_program(shop / "program.sql", session=spark)  # so that the command needs no session to compile it
    with opened(spark, shop) as p:
        p.insert("product", [(3, "c")])
        p.insert("sale", [(3, 150, None)])
        p.step()
        p.run(once=True)
    (shop / "deltas.sql").write_text("INSERT INTO sale VALUES (3, 1, NULL);")
    command = ["step", str(shop / "program.sql"), str(shop / "deltas.sql"), "--state", str(shop / "replayed")]
    (shop / "changelog").rename(shop / "first")
    (shop / "alarms").rename(shop / "first alarms")
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    assert not (shop / "changelog").exists()  # no product joins the sale
    (shop / "deltas.sql").write_text("INSERT INTO product VALUES (3, 'c');")
    shown = CliRunner().invoke(main, command)
    assert shown.exit_code == 0, shown.output
    first = spark.read.parquet(str(shop / "first")).collect()
    assert sorted((row["__step"], row["name"], row["sales"], row["__weight"]) for row in first) == [
        (1, "c", 1, 1),
        (2, "a", 1, 1),
        (2, "b", 1, 1),
        (3, "a", 1, -1),
        (3, "a", 2, 1),
    ]
    assert changelog(spark, shop) == [(2, "c", 1, 1)]
