"""A live view, in a real kernel: what a notebook is told after steps, and when it ends."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from dbsp.circuits.errors import DataError, Error
from dbsp.views.live import PER_SECOND, Live
from tests.dbsp.build import pipeline

ROOT = Path(__file__).parents[3]
UPDATE = "update_display_data"


class Notebook:
    """Executes cells; the messages that show and replace outputs, as they came."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self.client = client
        self.shown: list[tuple[str, dict[str, str], str]] = []

    def run(self, cell: str) -> None:
        failed = self.client.execute_interactive(cell, timeout=180, output_hook=self._take)
        assert failed["content"]["status"] == "ok", failed["content"]

    def _take(self, message: dict[str, Any]) -> None:
        if message["msg_type"] in ("display_data", UPDATE):
            content = message["content"]
            self.shown.append((message["msg_type"], content["data"], content["transient"]["display_id"]))

    def until(self, found: Callable[[str], bool]) -> str:
        """The first HTML, from the last that has come, of which it is so."""
        end = time.monotonic() + 120
        while not found(html := self.shown[-1][1]["text/html"]):
            assert time.monotonic() < end, html
            self._take(self.client.get_iopub_msg(timeout=120))
        return html


@pytest.fixture(scope="module")
def notebook() -> Iterator[Notebook]:
    kernel = KernelManager()
    kernel.kernel_cmd = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    kernel.start_kernel(cwd=str(ROOT))
    client = kernel.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=180)
        opened = Notebook(client)
        opened.run("from tests.dbsp.build import pipeline")
        yield opened
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)


@pytest.mark.slow
def test_a_cell_shows_it_once_and_another_one_too(notebook: Notebook) -> None:
    notebook.shown.clear()
    notebook.run("p = pipeline(); live = p['counts'].live(); live")
    notebook.run("live")
    kinds = [kind for kind, _, _ in notebook.shown if kind != UPDATE]
    assert kinds == ["display_data", "display_data"]
    assert len({identity for _, _, identity in notebook.shown}) == 1
    notebook.run("p.insert('votes', [(1, 7)]); p.step()")
    notebook.until(lambda html: ">7<" in html)
    notebook.run("p.close()")
    notebook.until(lambda html: "no longer updated" in html)
    notebook.shown.clear()


def test_a_cell_shows_each_step_s_rows_until_the_pipeline_is_closed(notebook: Notebook) -> None:
    notebook.run("p = pipeline(); live = p['counts'].live()")
    kind, first, identity = notebook.shown[-1]
    assert (kind, first["text/plain"]) == ("display_data", "<counts, step 0; 0 rows>")

    notebook.run("p.insert('votes', [(1, 7), (2, 7), (1, 8)]); p.step()")
    html = notebook.until(lambda html: "step 1" in html)
    assert ">counts, step 1: +2 −0</caption>" in html
    assert html.count("background") == 2

    notebook.run("p.insert('votes', [(3, 7)]); p.step()")
    html = notebook.until(lambda html: "step 2" in html)
    assert "counts, step 2: +1 −1" in html
    marked, other = html.split("<tbody>")[1].split("</tr>")[:2]
    assert "background" in marked
    assert ">7</td>" in marked
    assert ">3</td>" in marked
    assert "background" not in other
    assert "no longer updated" not in html

    notebook.run("p.insert('votes', [(4, 9)]); p.step(); p.close()")  # closed before it is time to draw
    html = notebook.until(lambda html: "no longer updated" in html)
    assert "counts, step 3: +1 −0" in html
    assert {shown[2] for shown in notebook.shown if "counts" in shown[1]["text/plain"]} == {identity}
    notebook.run("assert repr(live) == '<counts, stopped, step 3>', live")


def test_fast_steps_are_seen_together_and_a_stopped_one_follows_no_more(notebook: Notebook) -> None:
    notebook.run("p = pipeline(); live = p['counts'].live(rows=2)")
    before = len(notebook.shown)
    notebook.run("for n in range(30): p.insert('votes', [(n, n)]); p.step()\nlive.stop()")
    html = notebook.until(lambda html: "no longer updated" in html)
    assert "counts, step 30: +1 −0, 2 of 30 rows" in html
    assert html.count("<tr") == 3
    drawn = len(notebook.shown) - before
    assert drawn < 20, drawn  # not one a step
    notebook.run(
        "p.insert('votes', [(1, 1)]); p.step(); assert (live.step, live.running) == (30, False); p.close()"
    )
    assert len(notebook.shown) == before + drawn


def test_what_cannot_be_read_ends_it_with_the_reason_in_its_cell() -> None:
    shown: list[dict[str, str]] = []

    class Cell:
        def update(self, obj: Any, **options: Any) -> None:
            shown.append(obj)

    with pipeline() as p:
        good = p._reading.drawing("counts", 5)
        drawings = iter([good])

        def draw() -> Any:
            for drawing in drawings:
                return drawing
            raise DataError("view 'counts' has the row {} -1 times")

        watchers: set[Callable[[], None]] = set()
        live = Live("counts", draw, lambda: 1, watchers, lambda: False, lambda bundle: Cell())
        live._thread.join(30)
    assert shown == [{"text/plain": "view 'counts' has the row {} -1 times"}]
    assert (live.running, watchers) == (False, set())
    assert PER_SECOND <= 5


def test_a_drawing_that_a_step_overtakes_is_that_of_its_own_step_without_marks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The step whose rows are drawn is forgotten before its changes are read."""
    with pipeline(keep_steps=1) as p:
        p.insert("votes", [(1, 1)])
        p.step()
        marked = p._reading.drawing("counts", 5)
        view = p._reading.view

        def overtaken(name: str) -> Any:
            contents = view(name)
            for voter in range(2, 6):
                p.insert("votes", [(voter, 1)])
                p.step()
            return contents

        monkeypatch.setattr(p._reading, "view", overtaken)
        drawn = p._reading.drawing("counts", 5)
        with pytest.raises(Error):
            p.changes_of("counts", 1)
    assert (marked.step, marked.text) == (1, "<counts, step 1: +1 −0; 1 rows>")
    assert (drawn.step, drawn.text) == (1, "<counts, step 1; 1 rows>")


def test_it_is_refused_outside_a_notebook_and_of_what_no_step_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pipeline() as p:
        with pytest.raises(Error, match="a live view is shown in a notebook, and this is none"):
            p["counts"].live()
        with pytest.raises(DataError, match="'counts' is no view of a pipeline, so no step changes it"):
            p["counts"].where({"n": 1}).live()
        p.step()
        with pytest.raises(DataError, match=r"'counts' as of step 1 stays as it is; p\['counts'\]\.live\(\)"):
            p.view("counts", as_of=1).live()
        with pytest.raises(DataError, match="rows=0: a live view shows at least one row"):
            p["counts"].live(rows=0)
        monkeypatch.setitem(sys.modules, "IPython", None)
        with pytest.raises(Error, match="in Jupyter or VS Code: pip install ipython"):
            p["counts"].live()
