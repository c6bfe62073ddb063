"""What a table in any database holds is what the view holds, and each step is in it once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbsp.errors import DeliveryError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.sql.plans.program import Program
from dbsp.targets.databases import database
from dbsp.targets.databases.database import Database
from tests.dbsp.targets.databases.places import Place
from tests.dbsp.targets.voting import check_lost_steps, feed, only, opened, random_steps, voting, write_again

pytestmark = pytest.mark.slow

DROPPED = ("totals", "others", "log", "dbsp_steps")


def program(there: Place, **names: str) -> Program:
    """names: of the targets, where they aren't their own."""
    return voting(there.form, lambda name: {**there.options, "dbtable": names.get(name, name)})


def check(p: Pipeline, there: Place, totals: str = "totals", log: str = "log") -> None:
    found = there.rows(f"SELECT story_id, n FROM {totals} ORDER BY 1")
    assert found == sorted(tuple(row.values()) for row in p["counts"].rows())
    counted: Counter[Any] = Counter()
    for *row, weight in there.rows(f"SELECT user_id, story_id, __weight FROM {log}"):
        counted[tuple(row)] += weight
    assert +counted == Counter(tuple(row.values()) for row in p["all_votes"].rows())
    assert not -counted
    assert there.rows("SELECT step FROM dbsp_steps") == [(p.last_step,)] * 2


@pytest.fixture
def clean(there: Place) -> Iterator[Place]:
    yield there
    for name in DROPPED:
        there.execute(f"DROP TABLE IF EXISTS {name}")


def test_random_changes_are_the_view(clean: Place, tmp_path: Path) -> None:
    with opened(program(clean), tmp_path / "state") as p:
        for _ in random_steps(p, "votes", least=1):
            check(p, clean)


@pytest.mark.parametrize("fails", ["before", "after"])
def test_a_transaction_that_dies_at_any_statement(
    clean: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    """The session ends there, as where its process died; `after` the last one its answer is lost."""
    calls, at = 0, -1

    def disturbed(work: Any) -> Any:
        def run(*args: Any, **options: Any) -> Any:
            nonlocal calls
            mine, calls = calls, calls + 1
            if mine == at and fails == "before":
                raise OSError("the connection is lost")
            found = work(*args, **options)
            if mine == at:
                raise OSError("the connection is lost")
            return found

        return run

    connected = {cls: cls.connected for cls in (type_of(clean),)}
    for cls, connect in connected.items():

        def watched(self: Database, connect: Any = connect) -> Any:
            session = disturbed(connect)(self)
            for name in ("execute", "row", "load"):
                monkeypatch.setattr(session, name, disturbed(getattr(session, name)), raising=False)
            return session

        monkeypatch.setattr(cls, "connected", watched)
    for at in range(0, 200, 1 if clean.form == "sqlite" else 5):
        calls = 0
        made = program(clean)
        with opened(made, tmp_path / str(at)) as p:
            raised = False
            for _ in range(2):
                feed(p)
                try:
                    p.step()
                except DeliveryError as error:
                    assert "the connection is lost" in str(error)
                    raised = True
                    break
            if not raised:
                check(p, clean)
                assert at > 12
                break
            if at % 2:
                feed(p)
                p.step()
                check(p, clean)
        with opened(made, tmp_path / str(at)) as p:  # which delivers what is left
            check(p, clean)
            feed(p)
            p.step()
            check(p, clean)
        for name in DROPPED:
            clean.execute(f"DROP TABLE IF EXISTS {name}")
    else:
        pytest.fail("there was no end")


def type_of(there: Place) -> type[Database]:
    from dbsp.pipeline.own_targets import OWN  # noqa: PLC0415
    from dbsp.sql.plans.own_forms import own_form  # noqa: PLC0415

    form = own_form(there.form)
    assert form is not None
    found = OWN[form]
    assert isinstance(found, type) and issubclass(found, Database)
    return found


def test_a_session_that_ended_while_it_was_idle_is_made_anew(
    clean: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_IDLE", -1.0)
    with opened(program(clean), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
            sinks = p._sinks
            assert sinks is not None
            for target in sinks.targets.values():
                assert isinstance(target, Database)
                if target._session is not None:
                    target._session.close()
        check(p, clean)


def test_an_answer_to_a_commit_that_is_lost(
    clean: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, lost = Database.write, list[int]()

    def unanswered(self: Database, step: int, changes: Any) -> None:
        write(self, step, changes)
        if step == 2 and len(lost) < 2:
            lost.append(step)
            self.close()
            raise OSError("the answer is lost")

    monkeypatch.setattr(Database, "write", unanswered)
    with opened(program(clean), tmp_path / "state") as p:
        feed(p)
        p.step()
        feed(p)
        with pytest.raises(DeliveryError, match="step 2 was not written: the answer is lost"):
            p.step()
        feed(p)
        p.step()
        check(p, clean)


def test_a_step_that_is_written_again_changes_nothing(clean: Place, tmp_path: Path) -> None:
    with opened(program(clean), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
        write_again(p)
        check(p, clean)


def test_a_table_of_another_directory_is_refused(clean: Place, tmp_path: Path) -> None:
    made = program(clean)
    with opened(made, tmp_path / "one") as p:
        feed(p)
        p.step()
    with opened(made, tmp_path / "two") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="another state directory's, or this one went back: dbsp_steps"
        ):
            p.step()
    with opened(made, tmp_path / "one") as p:
        check(p, clean)


def test_a_table_that_has_steps_which_were_lost_is_refused(clean: Place, tmp_path: Path) -> None:
    check_lost_steps(program(clean), tmp_path)


def test_a_table_that_lacks_steps_gets_no_later_ones(clean: Place, tmp_path: Path) -> None:
    with opened(program(clean), tmp_path / "state") as p:
        for _ in range(2):
            feed(p)
            p.step()
    clean.execute("UPDATE dbsp_steps SET step = 1")
    with opened(program(clean), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="lacks what it was given: dbsp_steps has step 1 of it, and"):
            p.step()


def test_another_table_is_begun_anew(clean: Place, tmp_path: Path) -> None:
    """As the error says: it lacks what it was given, until it gets all that the view holds."""
    with opened(program(clean), tmp_path / "state") as p:
        for _ in range(3):
            feed(p)
            p.step()
    moved = program(clean, totals="others")
    with opened(moved, tmp_path / "state") as p:
        feed(p)
        with pytest.raises(
            DeliveryError, match="or begin it anew: take it and its INSERT out of the program"
        ):
            p.step()
    without = replace(only(moved, "log"), fingerprint="without")
    with opened(without, tmp_path / "state", evolve=True) as p:
        feed(p)
        p.step()
    with opened(moved, tmp_path / "state", evolve=True) as p:
        for _ in range(2):
            feed(p)
            p.step()
            found = clean.rows("SELECT story_id, n FROM others ORDER BY 1")
            assert found == sorted(tuple(row.values()) for row in p["counts"].rows())


def test_rows_that_no_step_wrote_are_no_view(clean: Place, tmp_path: Path) -> None:
    clean.execute("CREATE TABLE totals (story_id bigint PRIMARY KEY, n bigint, __step bigint)")
    clean.execute("INSERT INTO totals VALUES (77, 1, 0)")
    with opened(program(clean), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match="totals has rows that no step has written"):
            p.step()
        clean.execute("DELETE FROM totals")
        feed(p)
        p.step()
        check(p, clean)


def test_a_table_with_other_columns_is_said(clean: Place, tmp_path: Path) -> None:
    clean.execute("CREATE TABLE totals (story_id bigint PRIMARY KEY, amount bigint)")
    with opened(program(clean), tmp_path / "state") as p:
        feed(p)
        with pytest.raises(DeliveryError, match=r"'totals': step 1 was not written: .*\bn\b"):
            p.step()


def test_names_in_quotes(clean: Place, tmp_path: Path) -> None:
    totals, log = "My 100% totals", "select"
    with opened(program(clean, totals=totals, log=log), tmp_path / "state") as p:
        for _ in range(2):
            feed(p)
            p.step()
        check(p, clean, *(f"{clean.quote}{name}{clean.quote}" for name in (totals, log)))
    for name in (totals, log):
        clean.execute(f"DROP TABLE {clean.quote}{name}{clean.quote}")
