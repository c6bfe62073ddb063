"""A changelog of files that is written elsewhere: it goes on there, begins anew, or is refused."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.commands.fsck import go_back
from dbsp.evolution import becoming
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.plan import plan
from dbsp.sql.compiler.load import compile_program
from dbsp.state.records.delivered import Delivery
from dbsp.state.records.identity import identity_of
from dbsp.state.store import Store
from dbsp.targets.directories import cut_off, steps_in
from tests.dbsp.build import votes_program

TABLE = "CREATE TABLE orders (id BIGINT, customer STRING, amount BIGINT);\n"
SINK = "CREATE TABLE sink (customer STRING, n BIGINT, __weight BIGINT) USING json OPTIONS (path '{0}/{1}');\n"
TOTALS = "CREATE VIEW totals AS SELECT customer, sum(amount) AS n FROM orders GROUP BY customer;\n"
INSERT = "INSERT INTO sink SELECT * FROM totals;\n"
ORDERS = [(1, "a", 10), (2, "a", 5), (3, "b", 7), (4, None, 1)]


class Shop:
    """A state whose program writes to one of some directories."""

    def __init__(self, spark: Any, root: Path) -> None:
        self.spark, self.root, self.state = spark, root, root / "state"

    def text(self, directory: str | None, totals: str = TOTALS) -> str:
        sink = "" if directory is None else SINK.format(self.root, directory)
        return TABLE + sink + totals + (INSERT if sink else "")

    def opened(self, text: str, evolve: bool = False) -> Pipeline:
        return Pipeline(sql=text, state=self.state, spark=self.spark, runner="inline", evolve=evolve)

    def step(
        self, directory: str, *orders: tuple[Any, ...], evolve: bool = False, totals: str = TOTALS
    ) -> None:
        with self.opened(self.text(directory, totals), evolve) as p:
            p.insert("orders", orders)
            p.step()
            held = Counter({tuple(row.values()): 1 for row in p["totals"].rows()})
        assert self.summed(directory) == held

    def summed(self, directory: str) -> Counter[tuple[Any, ...]]:
        """What a reader of the directory has."""
        reader = self.spark.read.schema("customer STRING, n BIGINT, __weight BIGINT")
        total: Counter[tuple[Any, ...]] = Counter()
        for row in reader.json(str(self.root / directory)).collect():
            total[row.customer, row.n] += row["__weight"]
        return Counter({row: n for row, n in total.items() if n})

    def refused(self, text: str) -> tuple[str, ...]:
        return plan(compile_program(text, "p.sql"), self.state).refused


@pytest.fixture
def shop(spark: Any, tmp_path: Path) -> Shop:
    made = Shop(spark, tmp_path)
    made.step("first", *ORDERS)
    made.step("first", (5, "b", 1))
    return made


@pytest.mark.spark
@pytest.mark.parametrize("totals", [TOTALS, TOTALS.replace("sum(amount)", "count(*)")])
def test_it_begins_there_with_all_that_its_view_holds(shop: Shop, totals: str) -> None:
    """Also where the view is computed otherwise from then on."""
    made = plan(compile_program(shop.text("second", totals), "p.sql"), shop.state)
    said = f"is written to {shop.root}/second from now on, gets what its view holds, and then every change"
    assert f"new          sink sink: {said}" in made.lines()
    shop.step("second", (6, "c", 1), evolve=True, totals=totals)
    shop.step("second", (7, "a", 1), totals=totals)
    assert steps_in(str(shop.root / "second")) == [3, 4, 5]
    assert steps_in(str(shop.root / "first")) == [1, 2]
    assert plan(compile_program(shop.text("second", totals), "p.sql"), shop.state).is_same


@pytest.mark.spark
def test_it_goes_on_where_its_steps_were_moved(shop: Shop) -> None:
    (shop.root / "first").rename(shop.root / "second")
    shop.step("second", (6, "c", 1), evolve=True)
    assert steps_in(str(shop.root / "second")) == [1, 2, 3]


@pytest.mark.spark
@pytest.mark.parametrize("name", ["sink", "other"])
def test_where_steps_of_before_are_it_is_refused(shop: Shop, name: str) -> None:
    """A reader would have what they hold twice: taken out of the program and put back, or by another name."""
    with shop.opened(shop.text(None), evolve=True) as p:
        assert p.last_step == 3
    text = shop.text("first").replace("sink", name)
    (why,) = shop.refused(text)
    assert why == (
        f"sink '{name}': __step=1 to __step=2 are in {shop.root}/first already, and it begins after step 3, "
        "with all that its view held, which a reader would have twice; delete what is there, or give another "
        "path"
    )
    with pytest.raises(StateError, match="can't be changed"):
        shop.opened(text, evolve=True)
    shutil.rmtree(shop.root / "first")
    with shop.opened(text, evolve=True) as p:
        p.insert("orders", [(6, "c", 1)])
        p.step()
    assert shop.summed("first") == Counter([("a", 15), ("b", 8), ("c", 1), (None, 1)])


@pytest.mark.spark
def test_steps_that_come_there_later_are_refused_by_a_run(shop: Shop) -> None:
    """As of a path on a store, of which a plan knows nothing."""
    shop.step("second", evolve=True)
    (shop.root / "second" / "__step=1").mkdir()
    with shop.opened(shop.text("second")) as p, pytest.raises(StateError, match=r"__step=1 is in .*/second"):
        p.deliver()


@pytest.mark.spark
def test_a_power_failure_before_it_is_noted_leaves_no_row_twice(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The step that begins it is true, and is written nowhere else, and not without the change once more."""

    def fail(*_: object) -> None:
        raise OSError("power")

    with monkeypatch.context() as patched:
        patched.setattr(becoming, "write_delivered", fail)
        with pytest.raises(StateError, match="power"):
            shop.opened(shop.text("second"), evolve=True)
    assert Store.read(shop.state)[0].last.step == 3  # type: ignore[union-attr]
    for directory in ("first", "second"):
        with shop.opened(shop.text(directory)) as p, pytest.raises(StateError, match="step 3 has all that"):
            p.deliver()
    assert shop.summed("first") == Counter([("a", 15), ("b", 8), (None, 1)])
    assert shop.refused(shop.text("first"))
    shop.step("second", (6, "c", 1), evolve=True)


@pytest.mark.spark
def test_a_state_that_goes_back_behind_its_beginning(shop: Shop) -> None:
    shop.step("second", (6, "c", 1), evolve=True)
    [*go_back(shop.state, 2)]
    shutil.rmtree(shop.root / "second")
    why = r"began after step 2, and the state .* has gone back to step 2"
    with shop.opened(shop.text("second")) as p, pytest.raises(StateError, match=why):
        p.deliver()
    shop.step("second", (7, "d", 1), evolve=True)


def test_steps_that_are_kept_no_more_are_those_of_the_directory_before(tmp_path: Path) -> None:
    """Of which the state knows only that there were some."""
    store = Store.open(tmp_path / "state", identity_of(votes_program()))
    before = Delivery(9, str(tmp_path / "first"))
    there = {str(tmp_path / "first"): [3, 7], str(tmp_path / "second"): [3], str(tmp_path / "third"): [7]}

    def why(name: str, given: int = 0) -> str | None:
        return cut_off(store, "t", str(tmp_path / name), before, lambda _: given, there.__getitem__)

    assert why("first") is None is why("third")
    assert why("second", 3) is None
    assert f"__step=7 is not in {tmp_path}/second: it was written to {tmp_path}/first" in str(why("second"))
    assert "__step=8 is not in" in str(why("third", 8))
    store.close()


def test_steps_are_directories_of_numbers(tmp_path: Path) -> None:
    for name in ("__step=10", "__step=2", "__step=x", "_partial", "step=3"):
        (tmp_path / name).mkdir()
    assert steps_in(str(tmp_path)) == [2, 10]
    assert steps_in(str(tmp_path / "none")) == []
