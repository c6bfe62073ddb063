"""Sources to sinks: one step per micro-batch, exactly once wherever a run dies."""

from __future__ import annotations

import json
import os
import shutil
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

import dbsp.pipeline.sinks
from dbsp.circuits.errors import DataError, Error, ProgramError, StateError
from dbsp.commands.cli import main
from dbsp.commands.fsck import examine, go_back
from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.sinks import Sinks
from dbsp.pipeline.spark.sinks import Files
from dbsp.pipeline.spark.streaming import expected_steps, run
from dbsp.sql.compiler.load import compile_program, load_program
from dbsp.state.delivered import Delivery, write_delivered
from dbsp.state.store import Store

pytestmark = pytest.mark.spark

TEXT = """
CREATE TABLE sale (product BIGINT NOT NULL, units BIGINT, at TIMESTAMP)
USING csv OPTIONS (path '{0}/sales', maxFilesPerTrigger '1') WITH (append_only = true);
CREATE TABLE product (id BIGINT, name STRING) USING json OPTIONS (path '{0}/products');
CREATE VIEW sold AS
SELECT p.name, count(*) AS sales, sum(s.units) AS units
FROM sale s JOIN product p ON s.product = p.id GROUP BY p.name;
CREATE VIEW large AS SELECT product, units FROM sale WHERE units > 100;
CREATE TABLE changelog (name STRING, sales BIGINT, units BIGINT, __weight BIGINT)
USING parquet OPTIONS (path '{0}/changelog');
INSERT INTO changelog SELECT * FROM sold;
CREATE TABLE alarms (product BIGINT, units BIGINT) USING csv OPTIONS (path '{0}/alarms', header 'true');
INSERT INTO alarms SELECT * FROM large;
"""
FILES = ["1,5,2024-01-01 10:00:00\n2,7,\n", "1,200,2024-01-01 11:00:00\n", "2,1,\n3,300,\n"]
SOLD = [{"name": "a", "sales": 2, "units": 205}, {"name": "b", "sales": 2, "units": 8}]


@pytest.fixture
def shop(tmp_path):
    """Files of two sources, and nothing else yet."""
    (tmp_path / "sales").mkdir()
    (tmp_path / "products").mkdir()
    (tmp_path / "products" / "all.json").write_text('{"id": 1, "name": "a"}\n{"id": 2, "name": "b"}\n')
    for name in ("1", "2"):
        sell(tmp_path, name)
    return tmp_path


def sell(shop: Path, name: str) -> None:
    """Spark takes files in the order of their times."""
    file = shop / "sales" / f"{name}.csv"
    file.write_text(FILES[int(name) - 1])
    os.utime(file, (1_700_000_000 + int(name),) * 2)


@contextmanager
def opened(spark, shop, text=TEXT):
    program = compile_program(text.format(shop), session=spark)
    with Pipeline(program, state=shop / "state", spark=spark, runner="inline") as pipeline:
        yield pipeline


def changelog(spark, shop):
    """The sink, as (step, name, sales, weight)."""
    rows = spark.read.parquet(str(shop / "changelog")).collect()
    return sorted((row["__step"], row["name"], row["sales"], row["__weight"]) for row in rows)


EXPECTED = [
    (1, "a", 1, 1),
    (1, "b", 1, 1),
    (2, "a", 1, -1),
    (2, "a", 2, 1),
    (3, "b", 1, -1),
    (3, "b", 2, 1),
]


def test_every_batch_is_a_step_and_a_restart_goes_on(spark, shop):
    steps = []
    with opened(spark, shop) as p:
        assert expected_steps(p) == 2
        assert p.run(once=True, on_step=lambda changes: steps.append(changes.step)) == 2
        assert p.store.last.batch == 1
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert expected_steps(p) == 1
        assert p.run(once=True, on_step=lambda changes: steps.append(changes.step)) == 1
        assert p["sold"].rows() == SOLD
        assert p.run(once=True) == 0
    assert steps == [1, 2, 3]
    assert changelog(spark, shop) == EXPECTED
    alarms = spark.read.option("header", "true").csv(str(shop / "alarms")).collect()
    assert sorted((row["product"], row["units"], row["__step"]) for row in alarms) == [
        ("1", "200", 2),
        ("3", "300", 3),
    ]


def test_a_run_that_dies_between_commit_and_checkpoint_does_nothing_twice(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    done = shop / "state" / "checkpoint" / "commits" / "1"
    done.unlink()
    done.with_name(".1.crc").unlink(missing_ok=True)
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


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


def test_a_failing_row_stops_the_run_at_the_step_before(spark, shop):
    (shop / "sales" / "4.csv").write_text("oops,1,\n")
    with opened(spark, shop) as p:
        with pytest.raises(DataError, match=r"table 'sale'.*column 'product' \(BIGINT NOT NULL\)"):
            p.run(once=True)
        assert p.last_step == 2
        assert p.queued == {}
    (shop / "sales" / "4.csv").write_text(FILES[2])
    with opened(spark, shop) as p:
        p.run(once=True)
        assert p["sold"].rows() == SOLD


def test_stopping_lets_the_step_finish_and_loses_nothing(spark, shop):
    sell(shop, "3")
    stop = threading.Event()
    with opened(spark, shop) as p:
        assert run(p, on_step=lambda changes: stop.set(), stop=stop) == 1
        assert p.last_step == 1
    with opened(spark, shop) as p:
        # a batch that Spark was planning when it was stopped can take the rest at once
        assert p.run(once=True) in (1, 2)
        assert p["sold"].rows() == SOLD


def synced_paths(monkeypatch):
    """The paths that have been synced, as they are."""
    synced, fsync = set(), os.fsync

    def note(descriptor):
        synced.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", note)
    return synced


def test_what_a_batch_holds_is_on_disk_before_its_step_is_committed(spark, shop, monkeypatch):
    synced, commit, missing = synced_paths(monkeypatch), Store.commit, []

    def check(store, record):
        root = shop / "state" / "checkpoint"
        needed = [root / "metadata", root / "offsets" / str(record.batch)]
        needed += [path for path in root.glob("sources/*/*") if not path.name.startswith(".")]
        assert record.offsets.keys() >= {str(path.relative_to(root)) for path in needed}
        needed += {path.parent for path in needed}
        missing.append([path for path in needed if str(path) not in synced])
        commit(store, record)

    monkeypatch.setattr(Store, "commit", check)
    with opened(spark, shop) as p:
        p.run(once=True)
    assert missing == [[], []]


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


def test_a_power_failure_leaves_batches_that_were_never_committed(spark, shop):
    """Emptied, as names whose content was not yet written."""
    with opened(spark, shop) as p:
        p.run(once=True)
    root = shop / "state" / "checkpoint"
    for name in ("commits/0", "commits/1", "offsets/2", "sources/0/2", "sources/1/1"):
        (root / name).write_bytes(b"")
        (root / name).with_name(f".{Path(name).name}.crc").unlink(missing_ok=True)
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 1
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


@pytest.mark.parametrize("damage", ["flip", "empty", "delete"])
def test_damage_to_the_checkpoint_is_named(spark, shop, damage):
    with opened(spark, shop) as p:
        p.run(once=True)
        needed = p.store.last.offsets
    root = shop / "state" / "checkpoint"
    assert set(needed) == {"metadata", "offsets/0", "offsets/1", "sources/0/0", "sources/0/1", "sources/1/0"}
    for name in needed:
        path = root / name
        crc = path.with_name(f".{path.name}.crc")
        whole, _ = path.read_bytes(), crc.unlink(missing_ok=True)
        if damage == "flip":
            path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
        elif damage == "empty":
            path.write_bytes(b"")
        else:
            path.unlink()
        with (
            opened(spark, shop) as p,
            pytest.raises(StateError, match=rf"{path}: damaged: .*; .*`dbsp fsck "),
        ):
            p.run(once=True)
        path.write_bytes(whole)
    sell(shop, "3")
    with opened(spark, shop) as p:
        p.run(once=True)
        assert p["sold"].rows() == SOLD


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


def test_a_run_goes_on_from_a_step_that_was_gone_back_to(spark, shop):
    """Batches of later steps are read again; what is left of their files is for the user to delete."""
    sell(shop, "3")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 3
    (shop / "state" / "commits" / "000000000003.json").write_bytes(b"")
    with (
        pytest.raises(StateError, match=r"000000000003.json: damaged: the file is empty"),
        opened(spark, shop),
    ):
        pass
    assert examine(shop / "state")[1] == [1, 2]
    to_do = go_back(shop / "state", 1)
    changes = shop / "changelog"
    assert f"'changelog': delete __step=2 to __step=3 in {changes}, before" in to_do[0]
    assert examine(shop / "state") == ([], [1])
    with opened(spark, shop) as p, pytest.raises(StateError, match="__step=2 to __step=3 are in"):
        p.run(once=True)
    for step in (2, 3):
        shutil.rmtree(changes / f"__step={step}")
        shutil.rmtree(shop / "alarms" / f"__step={step}")
    with opened(spark, shop) as p:
        assert p.run(once=True) == 2
        assert p["sold"].rows() == SOLD
    assert changelog(spark, shop) == EXPECTED


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


def test_a_checkpoint_that_was_lost_is_noticed(spark, shop):
    with opened(spark, shop) as p:
        p.run(once=True)
    (shop / "state" / "checkpoint").rename(shop / "elsewhere")
    with (
        opened(spark, shop) as p,
        pytest.raises(StateError, match=r"checkpoint/metadata: damaged: .* missing"),
    ):
        p.run(once=True)


def test_what_is_missing_is_said_before_anything_starts(spark, shop):
    (shop / "sales").rename(shop / "elsewhere")
    with opened(spark, shop) as p:
        with pytest.raises(ProgramError, match=r"^program.sql:2:14: table 'sale': there is no '.*/sales'"):
            p.run(once=True)
        assert not (shop / "state" / "checkpoint").exists()


def test_a_path_may_be_one_file_and_relative(spark, shop, monkeypatch):
    monkeypatch.chdir(shop)
    text = "CREATE TABLE t (a BIGINT, b BIGINT, c STRING) USING csv OPTIONS (path 'sales/1.csv');"
    with opened(spark, shop, text + "CREATE VIEW v AS SELECT a, b FROM t;") as p:
        assert expected_steps(p) == 1
        assert p.run(once=True) == 1
        assert [tuple(row.values()) for row in p["v"].rows()] == [(1, 5), (2, 7)]


def test_what_spark_says_is_one_line(spark, shop):
    text = "CREATE TABLE t (a BIGINT, b INT) USING csv OPTIONS (path '{0}/sales', mode 'FAILFAST');"
    (shop / "sales" / "1.csv").write_text("1,x\n")
    with opened(spark, shop, text + "CREATE VIEW v AS SELECT a, b FROM t;") as p:
        with pytest.raises(Error, match=r"reading file .*csv. (For input|\[MALFORMED)") as raised:
            p.run(once=True)
        assert "\n" not in str(raised.value)
        assert p.last_step == 0


@pytest.mark.parametrize("query", ["SELECT * FROM t", "SELECT c FROM t", "SELECT count(*) FROM t"])
def test_the_header_of_a_csv_file_names_the_columns(spark, shop, query):
    table = "CREATE TABLE t (a BIGINT, b BIGINT, c STRING) USING csv"
    text = f"{table} OPTIONS (path '{{0}}/headed', header 'true'%s); CREATE VIEW v AS {query};"
    (shop / "headed").mkdir()
    (shop / "headed" / "1.csv").write_text("A,b,c\n1,2,x\n")
    with opened(spark, shop, text % "") as p:
        p.run(once=True)
        assert len(p["v"].rows()) == 1
        if "count" not in query:  # which reads no column
            (shop / "headed" / "2.csv").write_text("b,c,a\n1,x,2\n")
            with pytest.raises(
                Error, match=r"2.csv. CSV header .* Header: .* Schema: .*Expected: . but found: ."
            ):
                p.run(once=True)
    positional = text % ", enforceSchema 'true'"
    with Pipeline(sql=positional.format(shop), spark=spark) as p:
        assert p.run(once=True) == 1


RATE = """
CREATE TABLE tick (at TIMESTAMP, number BIGINT) USING rate OPTIONS (rowsPerSecond '50', numPartitions '1');
CREATE VIEW ticks AS SELECT count(*) AS n, max(number) AS top FROM tick;
"""


def test_a_source_with_columns_of_its_own(spark, shop):
    stop = threading.Event()

    def enough(changes):
        if changes["ticks"].rows()[-1][0]["n"] > 0:
            stop.set()

    with opened(spark, shop, RATE) as p:
        assert expected_steps(p) is None
        run(p, every=0.2, on_step=enough, stop=stop)
        ((n, top),) = [tuple(row.values()) for row in p["ticks"].rows()]
        assert n == top + 1 > 0


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "(a BIGINT, b BIGINT, c BIGINT) USING rate",
            "the columns of format rate are: timestamp TIMESTAMP, val",
        ),
        ("(a BIGINT, b BIGINT) USING rate", "1:17: column 'a' of 't' is BIGINT, rate gives TIMESTAMP"),
        ("(a BIGINT) USING csv", "needs OPTIONS (path 'directory')"),
        ("(a BIGINT) USING nowhere", "nowhere"),
        ("(a BIGINT)", "no table has a source"),
    ],
)
def test_what_can_not_be_read_is_refused(spark, shop, source, message):
    text = f"CREATE TABLE t {source}; CREATE VIEW v AS SELECT a FROM t;"
    with pytest.raises((ProgramError, DataError)) as raised, opened(spark, shop, text) as p:
        p.run(once=True)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("(n BIGINT)", "declare a column __weight BIGINT in 'out'"),
        ("(n BIGINT, __weight INT)", "column '__weight' of 'out' is written as BIGINT"),
        ("(n BIGINT, m BIGINT, __weight BIGINT)", "the query has 1 columns, table 'out' has 2: n, m"),
        ("(n STRING, __weight BIGINT)", "CAST it"),
    ],
)
def test_a_sink_that_does_not_fit_is_refused_by_the_compiler(spark, target, message):
    text = f"""
    CREATE TABLE t (a BIGINT); CREATE VIEW v AS SELECT count(*) AS n FROM t GROUP BY a;
    CREATE TABLE out {target} USING parquet OPTIONS (path 'x'); INSERT INTO out SELECT * FROM v;
    """
    with pytest.raises(ProgramError) as raised:
        compile_program(text, session=spark)
    assert message in str(raised.value)


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


SHAPES = """
CREATE TABLE sale (product BIGINT NOT NULL, units BIGINT, at TIMESTAMP)
USING csv OPTIONS (path '{0}/sales', maxFilesPerTrigger '1');
CREATE VIEW sold AS SELECT product, count(*) AS n FROM sale WHERE units < 100 GROUP BY product;
CREATE TABLE latest (n BIGINT, note STRING, product BIGINT PRIMARY KEY, __op STRING, __step BIGINT)
USING parquet OPTIONS (path '{0}/latest');
INSERT INTO latest (product, n) SELECT * FROM sold;
CREATE TABLE operations (n BIGINT, __op STRING) USING parquet OPTIONS (path '{0}/operations');
INSERT INTO operations SELECT n FROM sold;
CREATE TABLE rows (product BIGINT) USING parquet OPTIONS (path '{0}/rows') WITH (changelog = 'append');
CREATE STREAM visit (product BIGINT) USING csv OPTIONS (path '{0}/visits', maxFilesPerTrigger '1');
INSERT INTO rows SELECT STREAM product FROM visit;
"""


def test_every_shape_of_a_changelog(spark, shop):
    (shop / "visits").mkdir()
    (shop / "visits" / "1.csv").write_text("7\n7\n8\n")
    with opened(spark, shop, SHAPES) as p:
        p.run(once=True)
        p.delete("sale", [{"product": 2, "units": 7, "at": None}])
        p.insert("sale", [{"product": product, "units": 1, "at": None} for product in (1, 4, 5)])
        p.step()
    names = ("__step", "product", "n", "note", "__op")
    latest = spark.read.parquet(str(shop / "latest")).collect()
    assert sorted(tuple(row[name] for name in names) for row in latest) == [
        (1, 1, 1, None, "I"),
        (1, 2, 1, None, "I"),
        (3, 1, 2, None, "U"),
        (3, 2, None, None, "D"),
        (3, 4, 1, None, "I"),
        (3, 5, 1, None, "I"),
    ]
    operations = spark.read.parquet(str(shop / "operations")).collect()
    assert sorted((row["__step"], row["n"], row["__op"]) for row in operations) == [
        (1, 1, "I"),
        (1, 1, "I"),
        (3, 2, "I"),
    ]
    rows = spark.read.parquet(str(shop / "rows")).collect()
    assert sorted((row["__step"], row["product"]) for row in rows) == [(1, 7), (1, 7), (1, 8)]


LATE = """
CREATE TABLE sale (product BIGINT, units BIGINT, at TIMESTAMP LATENESS INTERVAL 1 HOUR)
USING csv OPTIONS (path '{0}/timed', maxFilesPerTrigger '1');
CREATE TABLE rejected (at_step BIGINT, sale STRING) USING json OPTIONS (path '{0}/rejected');
INSERT INTO rejected SELECT step, row FROM late_rows WHERE relation = 'sale';
CREATE TABLE all_rejected (relation STRING, `row` STRING, reason STRING) USING csv OPTIONS (path '{0}/all');
INSERT INTO all_rejected (reason, `row`, relation) SELECT reason, row, relation FROM late_rows;
"""


def test_late_rows_go_to_a_sink(spark, shop):
    (shop / "timed").mkdir()
    for name, rows in (("1", ["1,5,2024-03-01 10:00:00"]), ("2", ["2,6,2024-03-01 08:30:00"] * 2)):
        (shop / "timed" / f"{name}.csv").write_text("\n".join(rows) + "\n")
        os.utime(shop / "timed" / f"{name}.csv", (1_700_000_000 + int(name),) * 2)
    with opened(spark, shop, LATE) as p:
        p.run(once=True)
    late = {"product": 2, "units": 6, "at": "2024-03-01T08:30:00Z"}
    rejected = [
        (row["at_step"], json.loads(row["sale"])) for row in spark.read.json(f"{shop}/rejected").collect()
    ]
    assert rejected == [(2, late), (2, late)]
    rows = spark.read.csv(f"{shop}/all").collect()
    assert [(row[0], row[2]) for row in rows] == [("sale", "late")] * 2


FINAL = """
CREATE STREAM sale (id BIGINT, at TIMESTAMP LATENESS INTERVAL 1 MINUTE) USING csv OPTIONS (path '{0}/timed');
CREATE TABLE out (until TIMESTAMP, n BIGINT) USING parquet OPTIONS (path '{0}/final');
INSERT INTO out SELECT STREAM window.end, count(*) FROM sale GROUP BY window(at, '10 minutes');
"""


def test_a_run_over_what_is_there_now_does_not_end_a_stream(spark, shop):
    (shop / "timed").mkdir()
    for name, minutes in (("a", ("06", "12", "13")), ("b", ("14", "19", "22"))):
        (shop / "timed" / f"{name}.csv").write_text("".join(f"1,2024-03-01 10:{m}:00\n" for m in minutes))
        with opened(spark, shop, FINAL) as p:
            p.run(once=True)
    written = spark.read.parquet(str(shop / "final")).collect()
    found = sorted((r["__step"], r["until"].strftime("%H:%M"), r["n"]) for r in written)
    assert found == [(1, "10:10", 1), (2, "10:20", 4)]


EMITTED = """
CREATE TABLE sale (id BIGINT, product BIGINT, at TIMESTAMP) USING csv OPTIONS (path '{0}/timed');
CREATE TABLE out (until TIMESTAMP, n BIGINT, __weight BIGINT, __state STRING)
  USING parquet OPTIONS (path '{0}/emitted');
CREATE VIEW counted AS SELECT window.end AS until, count(*) AS n FROM sale GROUP BY window(at, '10 minutes')
  EMIT (FIRST RESULT OFFSET -INTERVAL 5 MINUTES, UPDATE RATE 1 ROW, RESULT STATE FLAG);
INSERT INTO out SELECT * FROM counted;
"""


def test_the_end_of_the_sources_emits_what_was_held_back(spark, shop):
    (shop / "timed").mkdir()
    rows = ["1,1,2024-03-01 10:06:00", "2,1,2024-03-01 10:12:00", "3,1,2024-03-01 10:13:00"]
    (shop / "timed" / "a.csv").write_text("\n".join(rows) + "\n")
    with opened(spark, shop, EMITTED) as p:
        assert p.run(once=True) == 2
        assert p.run(once=True) == 0
    written = spark.read.parquet(str(shop / "emitted")).collect()
    found = sorted(
        (r["__step"], r["until"].strftime("%H:%M"), r["n"], r["__state"], r["__weight"]) for r in written
    )
    assert found == [(1, "10:10", 1, "final", 1), (2, "10:20", 2, "final", 1)]


CLOCKED = """
CREATE TABLE seen (id INT, at TIMESTAMP, arrived TIMESTAMP DEFAULT now())
USING csv OPTIONS (path '{0}/seen') WITH (append_only = true);
CREATE VIEW recent AS SELECT id FROM seen WHERE at > now() - INTERVAL 2 SECONDS;
CREATE VIEW arrivals AS SELECT id, arrived FROM seen WHERE id = 1;
CREATE VIEW quiet AS SELECT id, count(*) AS n FROM seen GROUP BY id TRIGGER AFTER DELAY INTERVAL 1 SECOND;
"""


def test_a_step_happens_when_the_clock_makes_something_due_and_no_other(spark, tmp_path):
    """One for the file, one for each row that leaves and each key that has been quiet; then none."""
    (tmp_path / "seen").mkdir()
    stop, changed = threading.Event(), []

    def remember(changes):
        changed.append({name: view.rows() for name, view in changes.items() if view.rows()})
        if changes.step == 1:  # some seconds of silence after all that is due
            threading.Timer(8, stop.set).start()

    with opened(spark, tmp_path, CLOCKED) as p:
        now = datetime.now(UTC).replace(tzinfo=None)
        (tmp_path / "seen" / "1.csv").write_text(
            f"1,{now + timedelta(minutes=1)}\n2,{now + timedelta(seconds=4)}\n"
        )
        assert run(p, on_step=remember, stop=stop) == len(changed)
        assert p.store.last.batch == 0
        ((arrival, _),) = changed[0].pop("arrivals")
        assert now < arrival["arrived"].replace(tzinfo=None) < now + timedelta(seconds=4)
        assert changed[0] == {"recent": [({"id": 1}, 1), ({"id": 2}, 1)]}
        assert {"quiet": [({"id": 1, "n": 1}, 1), ({"id": 2, "n": 1}, 1)]} in changed[1:]
        assert {"recent": [({"id": 2}, -1)]} in changed[1:]
        assert len(changed) == 3
        assert p.due is not None


@pytest.mark.parametrize("form", ["file:{0}", "file://{0}"])
def test_a_source_and_a_sink_may_be_uris(spark, shop, form, monkeypatch):
    (shop / "here").mkdir()
    monkeypatch.chdir(shop / "here")
    with opened(spark, shop, TEXT.replace("{0}", form)) as p:
        p.run(once=True)
        assert p["sold"].rows()
    assert changelog(spark, shop) == [row for row in EXPECTED if row[0] < 3]
    assert os.listdir(shop / "here") == []


@pytest.mark.parametrize("end", ["/sales", "/changelog"])
def test_files_that_spark_does_not_know_are_refused(spark, shop, end):
    text = TEXT.replace("'{0}" + end, "'nowhere:/x")
    with (
        opened(spark, shop, text) as p,
        pytest.raises(ProgramError, match="Spark knows no files on 'nowhere'; use a local path, or give"),
    ):
        p.run(once=True)
    assert p.last_step == 0
