"""`dbsp tag`: which steps are pinned, and by what name."""

from __future__ import annotations

from collections.abc import Iterator

from dbsp.history.tagging import tag
from dbsp.running.clock import spelled
from dbsp.state.keeping.keep import span_of
from dbsp.state.store import Store


def tagged(state: str, name: str, as_of: str | None, lasting: str | None) -> str:
    """Tag a step; what was done. Raises Error."""
    step = tag(state, name, as_of, None if lasting is None else span_of(lasting))
    return f"step {step} is '{name}'"


def listed_tags(state: str) -> Iterator[str]:
    """A line a tag: its name, its step, when that was made, and until when it stays. Raises StateError."""
    store, _ = Store.read(state)
    for name, pinned in store.tags.all().items():
        commit = store.commit_of(pinned.step)
        made = f", {spelled(commit.instant)} UTC" if commit.instant else ""
        until = f", until {spelled(pinned.until)} UTC" if pinned.until else ""
        yield f"{name}: step {pinned.step}{made}{until}"
