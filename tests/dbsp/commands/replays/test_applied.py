"""What a failure of a replay says of the steps that were made: which, and up to where in the file."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dbsp.commands.replays.applied import Applied

ENDS = ("d.jsonl:2", "d.jsonl:5", "")


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (0, None),
        (1, "s: step 8 is committed: d.jsonl up to d.jsonl:2; go on with what follows that"),
        (2, "s: steps 8 to 9 are committed: d.jsonl up to d.jsonl:5; go on with what follows that"),
        (3, "s: steps 8 to 10 are committed: all of d.jsonl; don't give it again"),
    ],
)
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_ended_it_has_a_note(made: int, said: str | None, error: type[BaseException]) -> None:
    pipeline, applied = SimpleNamespace(last_step=7), Applied("s")
    with pytest.raises(error) as raised, applied:
        applied.begin(pipeline, "d.jsonl")  # type: ignore[arg-type]
        applied.ends += ENDS
        applied.is_read = True
        pipeline.last_step += made
        raise error
    notes = getattr(raised.value, "__notes__", [])
    assert [note[: len(said or "")] for note in notes] == ([said] if said else [])


def test_nothing_is_said_of_steps_that_end_with_the_process() -> None:
    pipeline, applied = SimpleNamespace(last_step=0), Applied(None)
    with pytest.raises(ValueError) as raised, applied:
        applied.begin(pipeline, "d.jsonl")  # type: ignore[arg-type]
        applied.ends += ENDS
        pipeline.last_step += 1
        raise ValueError
    assert not hasattr(raised.value, "__notes__")


def test_nothing_is_said_before_a_file_was_begun() -> None:
    assert Applied("s").said() is None


def test_what_follows_may_not_have_been_read() -> None:
    pipeline, applied = SimpleNamespace(last_step=0), Applied("s")
    applied.begin(pipeline, "d.jsonl")  # type: ignore[arg-type]
    applied.ends.append("d.jsonl:2")
    pipeline.last_step = 1
    assert "up to d.jsonl:2; go on with what follows" in (applied.said() or "")
