"""Tables whose source is another than it was, or read otherwise, under the same fingerprint."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbsp.circuits.errors import StateError
from dbsp.pipeline.pipeline import Pipeline
from dbsp.pipeline.plan import plan
from dbsp.pipeline.steps.micro_batch import MicroBatch
from dbsp.sql.compiler.load import load_program
from dbsp.state.claim import owner
from dbsp.state.recording import Recording

pytestmark = pytest.mark.spark

T, U = "CREATE TABLE t (id INT)", "CREATE TABLE u (id INT)"
FILES = " USING json OPTIONS (path '{root}/{name}')"
COMPARED = " WITH (snapshot = 'every step')"
FED, STREAM, SNAPSHOT = "", FILES, FILES + COMPARED
VIEWS = "CREATE VIEW n AS SELECT count(*) AS n FROM t; CREATE VIEW m AS SELECT count(*) AS m FROM u;"
MORE = "CREATE VIEW more AS SELECT max(id) AS id FROM t;"


def program_of(root: Path, t: str, u: str, more: str = "") -> str:
    tables = [
        f"{table}{how.format(root=root, name=name)};" for table, how, name in ((T, t, "t"), (U, u, "u"))
    ]
    return "\n".join([*tables, VIEWS, more])


def opened(spark: Any, root: Path, t: str, u: str, more: str = "", **options: Any) -> Pipeline:
    text = program_of(root, t, u, more)
    return Pipeline(sql=text, state=root / "state", spark=spark, runner="inline", **options)


def come(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(exist_ok=True)
        number = len(list((root / name).iterdir()))
        (root / name / f"{number}.json").write_text(json.dumps({"id": number}) + "\n")


def ran(spark: Any, root: Path, t: str, u: str, more: str = "", **options: Any) -> tuple[int, int]:
    with opened(spark, root, t, u, more, **options) as p:
        p.run(once=True)
        return p["n"].rows()[0]["n"], p["m"].rows()[0]["m"]


OF_T = r"table 't' has rows of its source from before, .* once more; .*give the table another name"


@pytest.mark.parametrize("evolve", [False, True])
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ((SNAPSHOT, FED), (STREAM, FED)),
        ((SNAPSHOT, STREAM), (STREAM, STREAM)),
        ((SNAPSHOT, STREAM), (STREAM, FED)),
    ],
)
def test_what_would_be_read_once_more_is_refused(
    spark: Any, tmp_path: Path, before: tuple[str, str], now: tuple[str, str], evolve: bool
) -> None:
    """But not who only looks; and the program as it was goes on."""
    come(tmp_path, "t", "u")
    there = ran(spark, tmp_path, *before)
    with opened(spark, tmp_path, *now) as p:
        assert (p["n"].rows()[0]["n"], p["m"].rows()[0]["m"]) == there
    with pytest.raises(StateError, match=OF_T):
        ran(spark, tmp_path, *now, evolve=evolve)
    with pytest.raises(StateError, match=OF_T):
        opened(spark, tmp_path, *now, MORE, evolve=True)
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, *before) == tuple(2 * n for n in there)


@pytest.mark.parametrize(
    ("before", "now", "said", "comes", "goes"),
    [
        ((FED, STREAM), (STREAM, STREAM), "so far 'u', and now 't', 'u'", ["t"], []),
        ((STREAM, STREAM), (FED, STREAM), "so far 't', 'u', and now 'u'", [], ["t"]),
        ((STREAM, FED), (FED, STREAM), "so far 't', and now 'u'", ["u"], ["t"]),
    ],
)
def test_a_stream_comes_or_goes_by_a_change_of_program(
    spark: Any,
    tmp_path: Path,
    before: tuple[str, str],
    now: tuple[str, str],
    said: str,
    comes: list[str],
    goes: list[str],
) -> None:
    """Whose place in the checkpoint is whose is known by name. What was left is not read once more."""
    come(tmp_path, "t", "u")
    come(tmp_path, "t", "u")
    ran(spark, tmp_path, *before)
    come(tmp_path, "t", "u")
    with pytest.raises(StateError, match=f"read as streams were {said}; open it with --evolve"):
        ran(spark, tmp_path, *now)
    lines = str(plan(load_program(program_of(tmp_path, *now)), state=tmp_path / "state"))
    for name in comes:
        assert f"kept         table {name}: read as json, from its source's beginning on\n" in lines
    for name in goes:
        assert f"kept         table {name}: without its source from now on\n" in lines
    rows = tuple(
        3 if how == STREAM else 2 if was == STREAM else 0 for was, how in zip(before, now, strict=True)
    )
    assert ran(spark, tmp_path, *now, evolve=True) == rows
    assert ran(spark, tmp_path, *now, evolve=True) == rows
    assert ran(spark, tmp_path, *now) == rows
    if goes:
        for more in ("", MORE):
            with pytest.raises(StateError, match=f"table '{goes[0]}' has rows of its source from before"):
                ran(spark, tmp_path, *before, more, evolve=True)


def test_a_stream_that_was_compared_meanwhile_is_no_stream_again(spark: Any, tmp_path: Path) -> None:
    """Its place in the checkpoint is of before."""
    come(tmp_path, "t")
    (tmp_path / "u").mkdir()
    assert ran(spark, tmp_path, STREAM, FED) == (1, 0)
    come(tmp_path, "t")
    assert ran(spark, tmp_path, SNAPSHOT, FED) == (2, 0)
    with pytest.raises(StateError, match=OF_T):
        ran(spark, tmp_path, STREAM, FED)
    come(tmp_path, "t")
    assert ran(spark, tmp_path, SNAPSHOT, FED) == (3, 0)


def test_another_format_is_another_source(spark: Any, tmp_path: Path) -> None:
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, STREAM, FED) == (1, 0)
    with pytest.raises(
        StateError, match="table 't' was read as json, and is read as csv; leave it as it was"
    ):
        ran(spark, tmp_path, STREAM.replace("json", "csv"), FED)
    assert ran(spark, tmp_path, STREAM.replace("json", "JSON"), FED) == (1, 0)


@pytest.mark.parametrize("comes", [["t", "u"], ["u"]], ids=["last", "before"])
def test_files_that_were_moved_are_not_read_once_more(spark: Any, tmp_path: Path, comes: list[str]) -> None:
    """Whether the last batch read some of them or one before; where they were they may be by a link."""
    come(tmp_path, "t", "u")
    ran(spark, tmp_path, STREAM, STREAM)
    come(tmp_path, *comes)
    there = ran(spark, tmp_path, STREAM, STREAM)
    (tmp_path / "in").mkdir()
    (tmp_path / "t").rename(tmp_path / "in" / "t")
    moved = STREAM.replace("{name}", "in/{name}")
    with pytest.raises(
        StateError, match=r"table 't' was read from '.*/t/\d.json', which isn't one of '.*/in/t'"
    ):
        ran(spark, tmp_path, moved, STREAM)
    (tmp_path / "t").symlink_to(tmp_path / "in" / "t")
    come(tmp_path, "t")
    assert ran(spark, tmp_path, STREAM, STREAM) == (there[0] + 1, there[1])


def test_a_pattern_may_find_more_than_the_path_before(spark: Any, tmp_path: Path) -> None:
    come(tmp_path, "t", "u")
    before = STREAM.replace("{name}", "t")
    assert ran(spark, tmp_path, before, FED) == (1, 0)
    for pattern in ("[tu]", "?", "*/?.json"):
        rows = ran(spark, tmp_path, before.replace("/t'", f"/{pattern}'"), FED)
        assert rows == (2, 0), pattern


def test_using_comes_with_a_change_of_a_view(spark: Any, tmp_path: Path) -> None:
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, FED, STREAM) == (0, 1)
    assert ran(spark, tmp_path, STREAM, STREAM, MORE, evolve=True) == (1, 1)


@pytest.mark.parametrize("before", [(FED, FED), (SNAPSHOT, FED)])
def test_what_nothing_was_read_of_may_be_a_stream(
    spark: Any, tmp_path: Path, before: tuple[str, str]
) -> None:
    """It has rows later, and is a stream yet, whatever program.json says; then it may be compared."""
    (tmp_path / "t").mkdir()
    with opened(spark, tmp_path, *before) as p:
        p.insert("u", [(1,)])
        p.step()
    for n in (1, 2):
        come(tmp_path, "t")
        assert ran(spark, tmp_path, STREAM, FED) == (n, 1)
    come(tmp_path, "t")
    assert ran(spark, tmp_path, SNAPSHOT, FED) == (3, 1)


@pytest.fixture
def earlier(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Until it is called records are an earlier release's, which say nothing of how tables are read."""
    with monkeypatch.context() as patched:
        patched.setattr(MicroBatch, "reading", lambda batch, program, last: None)
        yield patched.undo


@pytest.mark.parametrize("evolve", [False, True])
@pytest.mark.parametrize(
    ("begun", "before"),
    [
        ((STREAM, FED), (FED, STREAM)),
        ((FED, STREAM), (STREAM, STREAM)),
        ((STREAM, STREAM), (STREAM, FED)),
        ((SNAPSHOT, FED), (STREAM, FED)),
    ],
)
def test_a_state_of_an_earlier_release_goes_on(
    spark: Any,
    tmp_path: Path,
    earlier: Callable[[], None],
    begun: tuple[str, str],
    before: tuple[str, str],
    evolve: bool,
) -> None:
    """Whatever program.json says, which is of the state's beginning."""
    come(tmp_path, "t", "u")
    with opened(spark, tmp_path, *begun) as p:
        p.step()
    rows = tuple(int(how == STREAM) for how in before)
    assert ran(spark, tmp_path, *before) == rows
    earlier()
    assert ran(spark, tmp_path, *before, evolve=evolve) == rows
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, *before, evolve=evolve) == tuple(2 * n for n in rows)


def test_that_an_earlier_release_compared_a_table_is_known(
    spark: Any, tmp_path: Path, earlier: Callable[[], None]
) -> None:
    """Though the first batch after it doesn't read the table."""
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, SNAPSHOT, STREAM) == (1, 1)
    earlier()
    come(tmp_path, "u")
    assert ran(spark, tmp_path, FED, STREAM) == (1, 2)
    for more in ("", MORE):
        with pytest.raises(StateError, match=OF_T):
            ran(spark, tmp_path, STREAM, STREAM, more, evolve=True)


def test_a_stream_that_was_left_is_known_without_its_rows(spark: Any, tmp_path: Path) -> None:
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, STREAM, STREAM) == (1, 1)
    with opened(spark, tmp_path, FED, STREAM, evolve=True) as p:
        p.delete("t", [(0,)])
        p.step()
    with pytest.raises(StateError, match=OF_T):
        ran(spark, tmp_path, STREAM, STREAM, evolve=True)


def test_a_change_of_using_whose_record_isn_t_made(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stood beside it isn't the program then."""
    come(tmp_path, "t", "u")
    assert ran(spark, tmp_path, STREAM, FED) == (1, 0)
    with monkeypatch.context() as patched:
        patched.setattr(Recording, "create", full)
        with pytest.raises(StateError, match="No space left"):
            opened(spark, tmp_path, STREAM, STREAM, evolve=True)
    known = owner(tmp_path / "state")
    assert known is not None
    assert known.manifest.streams == {"t": "json"}
    come(tmp_path, "t")
    assert ran(spark, tmp_path, STREAM, FED) == (2, 0)
    assert ran(spark, tmp_path, STREAM, STREAM, evolve=True) == (2, 1)


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_was_never_read_is_read_again_from_its_beginning(spark: Any, tmp_path: Path) -> None:
    """That is, for a new view, before the first batch."""
    come(tmp_path, "t")
    append_only = STREAM + " WITH (append_only = true)"
    with opened(spark, tmp_path, append_only, FED) as p:
        p.insert("u", [(1,)])
        p.step()
    options = {"evolve": True, "backfill": "from-source"}
    assert ran(spark, tmp_path, append_only, FED, MORE, **options) == (1, 1)


def test_batches_of_a_stream_of_one_s_own(spark: Any, tmp_path: Path) -> None:
    """There is no checkpoint of ours then."""
    come(tmp_path, "t", "u")
    with opened(spark, tmp_path, STREAM, FED) as p:
        p.step(stream="mine", batch=0)
        with pytest.raises(StateError, match="checkpoint"):
            p.run(once=True)
