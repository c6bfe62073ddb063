"""The page in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dbsp.serving.app import Serving
from tests.dbsp.serving.served import PROGRAM, Client, served
from tests.servers.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.slow

WIDE, NARROW = (1200, 800), (320, 640)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@dataclass
class Opened:
    """asked: every URL; wrong: what the console has of errors and warnings."""

    page: Page
    client: Client
    serving: Serving
    asked: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def go(self, route: str) -> None:
        self.page.goto(f"{self.client.base_url}/#/{route}")

    def rows(self) -> list[list[str]]:
        return [
            row.locator("td:not(.asks)").all_inner_texts()
            for row in self.page.locator(".rows tbody tr").all()
        ]

    def row_with(self, text: str) -> Locator:
        found = self.page.locator(".rows tbody tr", has_text=text)
        found.first.wait_for()
        return found


@contextmanager
def opened(
    browser: Browser, route: str = "", size: tuple[int, int] = WIDE, program: str = PROGRAM, **options: Any
) -> Iterator[Opened]:
    """A page of its own, of a pipeline of its own; in the end nothing was wrong, nobody else was asked."""
    with served(program=program) as (client, serving):
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        found = Opened(context.new_page(), client, serving)
        found.page.set_default_timeout(60_000)
        found.page.on("request", lambda request: found.asked.append(request.url))
        found.page.on("pageerror", lambda error: found.wrong.append(str(error)))
        found.page.on(
            "console",
            lambda message: (
                found.wrong.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        found.page.on("dialog", lambda dialog: found.wrong.append(dialog.message))
        if route is not None:
            found.go(route)
            found.page.locator("main h2").first.wait_for()
        yield found
        assert found.wrong == []
        assert {url for url in found.asked if not url.startswith(str(client.base_url))} == set()
        context.close()


def order(i: int, shop: str = "Ada", price: str = "1.00") -> dict[str, object]:
    return {"id": i, "shop": shop, "price": price}


def test_a_row_that_is_inserted_appears_and_is_seen_as_new(browser: Browser) -> None:
    with opened(browser, "views/turnover") as at:
        at.page.get_by_text("no rows").wait_for()
        at.client.posted("orders", [order(1), order(2, "Blaise", "2.50")])
        added = at.row_with("Blaise")
        assert "added" in (added.get_attribute("class") or "")
        assert at.rows() == [["Ada", "1", "1.00"], ["Blaise", "1", "2.50"]]
        at.client.posted("orders", [order(3, "Blaise", "4.00")])
        changed = at.row_with("6.50")
        assert "changed" in (changed.get_attribute("class") or "")
        assert "changed" not in (at.row_with("Ada").get_attribute("class") or "")
        at.page.locator(".news", has_text="step 2: 1 changed").wait_for()
        at.client.request("DELETE", "/tables/orders", json=[{"id": 1}])
        at.row_with("Ada").wait_for(state="detached")
        assert at.rows() == [["Blaise", "2", "6.50"]]
        assert sum("/#" not in url and url.endswith("/") for url in at.asked) == 1  # it was loaded once


def test_what_rows_hold_is_text(browser: Browser) -> None:
    bad = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    hidden = "a\x00b\x1bc\u202ed\u200be\x7f"
    long = "word " * 2000
    with opened(browser, "views/latest") as at:
        at.client.posted("orders", [order(1, bad), order(2, hidden), order(3, long)])
        at.row_with("<script>").wait_for()
        texts = [row[1] for row in at.rows()]
        assert texts[0] == bad
        assert texts[1] == "a⟨0000⟩b⟨001b⟩c⟨202e⟩d⟨200b⟩e⟨007f⟩"
        assert "10,000 characters" in texts[2]
        assert len(texts[2]) < 200
        at.page.get_by_role("button", name="10,000 characters").click()
        assert long.strip() in at.rows()[2][1]
        assert at.page.locator("main script, main img").count() == 0
        at.go("views/turnover")
        at.row_with("<script>").wait_for()


def test_numbers_keep_their_digits(browser: Browser) -> None:
    program = "CREATE TABLE t (n BIGINT, d DOUBLE, e DECIMAL(38, 3));\nCREATE VIEW v AS SELECT * FROM t;"
    with opened(browser, "views/v", program=program) as at:
        at.client.posted("t", [{"n": 2**63 - 1, "d": 1.0, "e": "12345678901234567890.125"}])
        at.row_with("9223372036854775807").wait_for()
        assert at.rows() == [[str(2**63 - 1), "1.0", "12345678901234567890.125"]]


def test_sorting_filtering_and_pages(browser: Browser) -> None:
    prices = [Decimal(n * 37 % 101) / 4 for n in range(120)]
    with opened(browser, "views/latest") as at:
        at.client.posted("orders", [order(n, "AB"[n % 2], str(price)) for n, price in enumerate(prices)])
        at.page.get_by_text("1–50 of 120 rows").wait_for()
        header = at.page.locator("th", has_text="price")
        assert header.get_attribute("aria-sort") == "none"
        for way, sign in (("ascending", 1), ("descending", -1)):
            header.get_by_role("button").click()
            at.page.locator(f"th[aria-sort={way}]", has_text="price").wait_for()
            at.page.wait_for_function("() => !document.querySelector('.asking')")
            shown = [Decimal(row[2]) for row in at.rows()]
            assert shown == sorted(prices, key=lambda price: sign * price)[:50]
        at.page.get_by_role("button", name="next").click()
        at.page.get_by_text("51–100 of 120 rows").wait_for()
        at.page.get_by_label("Filter by").select_option("shop")
        at.page.get_by_label("Value").fill("B")
        at.page.get_by_role("button", name="filter").click()
        at.page.get_by_text("1–50 of 60 rows found").wait_for()
        assert {row[1] for row in at.rows()} == {"B"}
        at.client.posted("orders", [order(999, "B", "99.00"), order(998, "A", "98.00")])
        at.page.get_by_text("1–50 of 61 rows found").wait_for()
        assert at.rows()[0][:2] == ["999", "B"]
        at.page.get_by_label("Value").fill("")
        at.page.get_by_label("Filter by").select_option("id")
        at.page.get_by_label("Value").fill("not a number")
        at.page.get_by_role("button", name="filter").click()
        at.page.get_by_text("doesn't fit BIGINT").wait_for()
        at.page.get_by_role("button", name="clear").click()
        at.page.get_by_text("1–50 of 122 rows").wait_for()
        at.wrong[:] = [one for one in at.wrong if "400 (Bad Request)" not in one]


def test_the_past_and_what_a_step_changed(browser: Browser) -> None:
    with opened(browser, "views/turnover") as at:
        for n in range(1, 5):
            at.client.posted("orders", [order(n)])
        at.row_with("4.00").wait_for()
        slider = at.page.get_by_label("As of step")
        at.page.wait_for_function("() => document.querySelector('.travel input').max === '3'")
        slider.focus()
        at.page.keyboard.press("ArrowLeft")
        at.page.keyboard.press("ArrowLeft")
        at.row_with("2.00").wait_for()
        assert slider.get_attribute("aria-valuetext") == "step 2"
        at.page.get_by_role("button", name="what it changed").click()
        at.page.get_by_text("2 changed rows in step 2").wait_for()
        rows = [
            (one.get_attribute("class"), one.locator("td").nth(3).inner_text())
            for one in at.page.locator(".rows tbody tr").all()
        ]
        assert sorted(rows) == [("inserted", "2.00"), ("removed", "1.00")]
        at.client.posted("orders", [order(9)])  # the past stays
        at.page.get_by_text("step 5", exact=True).wait_for()
        assert at.page.get_by_text("2 changed rows in step 2").is_visible()
        at.page.get_by_role("button", name="back to now").click()
        at.row_with("5.00").wait_for()
        at.client.posted("orders", [order(10)])
        at.row_with("6.00").wait_for()


def test_why_a_row_is_there_and_why_another_is_not(browser: Browser) -> None:
    with opened(browser, "views/turnover") as at:
        at.client.posted("orders", [order(1), order(2, "<i>B</i>", "2.50"), order(3, "<i>B</i>", "4.00")])
        button = at.row_with("<i>B</i>").get_by_role("button", name="why")
        button.focus()
        at.page.keyboard.press("Enter")
        dialog = at.page.locator("dialog.why")
        dialog.locator("summary", has_text="orders").wait_for()
        assert "shop = <i>B</i>" in dialog.locator("h2").inner_text()
        assert "1 row, as of step 1; step 1 was the last" in dialog.inner_text()
        of_orders = dialog.locator("details", has_text="orders").last
        found = of_orders.locator("tbody tr").all_inner_texts()
        assert [row.split("\t")[:3] for row in found] == [
            ["2", "<i>B</i>", "2.50"],
            ["3", "<i>B</i>", "4.00"],
        ]
        at.page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
        assert button.evaluate("element => element === document.activeElement")
        at.page.get_by_label("Value").fill("Nobody")
        at.page.keyboard.press("Enter")
        at.page.get_by_role("button", name="why not?").click()
        lost = dialog.locator("summary", has_text="lost here")
        assert lost.inner_text().startswith("orders")


def test_rows_of_a_large_group_come_in_pages(browser: Browser) -> None:
    with opened(browser, "views/turnover") as at:
        at.client.posted("orders", [order(i) for i in range(50)])
        at.row_with("Ada").get_by_role("button", name="why").click()
        of_orders = at.page.locator("dialog.why details", has_text="orders").last
        next_ = of_orders.get_by_role("button", name="next")
        of_orders.get_by_text("1–20 of 50 rows").wait_for()
        at.client.posted("orders", [order(100)])  # of which these pages know nothing
        next_.click()
        of_orders.get_by_text("21–40 of 50 rows").wait_for()
        next_.click()
        of_orders.get_by_text("41–50 of 50 rows").wait_for()
        assert [row.split("\t")[0] for row in of_orders.locator("tbody tr").all_inner_texts()] == [
            str(i) for i in range(40, 50)
        ]
        assert next_.is_disabled()
        of_orders.get_by_role("button", name="previous").click()
        of_orders.get_by_text("21–40 of 50 rows").wait_for()
        of_orders.locator(".pages").scroll_into_view_if_needed()
        on_top = """head => {
            const { x, y, width, height } = head.getBoundingClientRect();
            return head.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }"""
        assert at.page.locator("dialog.why header").evaluate(on_top)


def test_the_graph_is_the_circuit(browser: Browser) -> None:
    with opened(browser, "circuit") as at:
        at.client.posted("orders", [order(1)])
        at.page.locator(".node").first.wait_for()
        nodes = at.serving.pipeline.program.circuit.nodes
        shown = {
            int(one.get_attribute("data-number") or -1): one.locator(".kind").text_content()
            for one in at.page.locator(".node").all()
        }
        assert shown == {i: type(node.operator).__name__ for i, node in enumerate(nodes)}
        assert at.page.locator(".wire").count() == sum(len(set(node.inputs)) for node in nodes)
        number = next(i for i, node in enumerate(nodes) if type(node.operator).__name__ == "Aggregate")
        at.page.locator(f".node[data-number='{number}']").click()
        detail = at.page.locator(".detail")
        assert detail.locator("h3").inner_text().startswith("Aggregate")
        assert detail.get_by_role("link", name="turnover").first.get_attribute("href") == "#/program/turnover"
        detail.get_by_text("rows, last step").wait_for()
        above = nodes[number].inputs[0]
        detail.locator(f"button[data-to='{above}']").click()
        assert at.page.evaluate("() => document.activeElement.dataset.number") == str(above)
        at.page.keyboard.press("ArrowDown")
        assert at.page.evaluate("() => document.activeElement.dataset.number") == str(number)
        at.page.get_by_label("Operators of").select_option("visitors")
        at.page.wait_for_function(f"() => document.querySelectorAll('.node').length < {len(nodes)}")


def test_a_query_with_a_name_completed(browser: Browser) -> None:
    with opened(browser, "query") as at:
        at.client.posted("orders", [order(1), order(2, "Blaise")])
        text = at.page.get_by_label("SQL over the views")
        text.fill("")
        text.press_sequentially("SELECT shop, n FROM turn")
        at.page.get_by_role("option", name="turnover").wait_for()
        at.page.keyboard.press("ArrowDown")
        at.page.keyboard.press("Enter")
        assert text.input_value() == "SELECT shop, n FROM turnover"
        at.page.keyboard.press("Control+Enter")
        at.page.locator(".rows td").first.wait_for()
        assert sorted(at.rows()) == [["Ada", "1"], ["Blaise", "1"]]
        text.fill("SELECT shop,\n\tnope FROM turnover")
        at.page.get_by_role("button", name="run").click()
        error = at.page.locator("pre.error", has_text="nope")
        error.wait_for()
        assert (error.text_content() or "").startswith("unknown column 'nope' in 'turnover'")
        assert (error.text_content() or "").endswith("\n\tnope FROM turnover\n\t^")
        at.wrong[:] = [one for one in at.wrong if "400 (Bad Request)" not in one]
        at.page.reload()
        at.page.get_by_text("earlier queries").click()
        at.page.get_by_role("button", name="SELECT shop, n FROM turnover").wait_for()


def test_steps_as_they_are_made(browser: Browser) -> None:
    program = """
    CREATE TABLE seen (at TIMESTAMP NOT NULL LATENESS INTERVAL 1 HOUR, n INT) WITH (append_only = true);
    CREATE VIEW v AS SELECT n, count(*) AS c FROM seen GROUP BY n;
    """
    with opened(browser, "steps", program=program) as at:
        at.page.get_by_text("this process has made no step yet").wait_for()
        at.client.posted("seen", [{"at": "2024-01-01T15:00:00Z", "n": 1}])
        at.page.get_by_text("2024-01-01 14:00:00+00:00").wait_for()
        at.client.posted("seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}])
        at.page.locator(".cards", has_text="seen 1").wait_for()
        at.page.get_by_role("link", name="v ±1").wait_for()
        assert at.page.locator(".chart rect.tasks").count() == 2
        at.page.get_by_role("link", name="v ±1").click()
        at.page.locator("output", has_text="step 1").wait_for()


@pytest.mark.spark
def test_how_far_a_source_is_behind(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    program = f"""
    CREATE TABLE t (x INT) USING json OPTIONS (path '{tmp_path}/in');
    CREATE VIEW v AS SELECT x FROM t;
    """
    with opened(browser, "steps", program=program) as at:
        at.page.get_by_text("not read yet").wait_for()
        at.client.posted("t", [{"x": 1}])
        at.serving.pipeline.behind = lambda: {"t": (1234, "files")}
        at.page.locator("tr", has_text="json").get_by_text("1,234 files").wait_for()
        at.page.locator("tr", has_text="json").get_by_text("ago").wait_for()
        at.serving.pipeline.away = lambda: {"t": "no route to it"}
        at.page.locator("tr", has_text="json").get_by_title("no route to it").get_by_text("away").wait_for()


def test_the_text_with_the_lines_of_a_view(browser: Browser) -> None:
    with opened(browser, "program/turnover") as at:
        at.page.locator(".line.chosen").wait_for()
        assert at.page.locator(".line.chosen").inner_text().startswith("CREATE VIEW turnover")
        lines = at.page.locator("pre.text .line").all_inner_texts()
        assert "\n".join(line.rstrip("\n") for line in lines).strip() == PROGRAM.strip()


TROUBLED = """\
CREATE TABLE seen (at TIMESTAMP NOT NULL LATENESS INTERVAL 1 HOUR, n INT) WITH (append_only = true);
SET spark.sql.shuffle.partitions = 7;
CREATE TABLE kept (n INT, c BIGINT, PRIMARY KEY (n))
USING sqlite OPTIONS (path '{path}');
CREATE VIEW v AS SELECT n, count(*) AS c FROM seen GROUP BY n;
INSERT INTO kept
SELECT n, c FROM v WHERE n IS NOT NULL;
"""


def test_problems_stand_at_the_lines_that_they_are_about(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "kept.db"
    with opened(browser, "program", program=TROUBLED.format(path=file)) as at:

        def below(line: int) -> list[str]:
            """What is said between this line and the next one."""
            found = at.page.locator("pre.text > *").evaluate_all(
                "(all) => all.map((one) => [one.classList.contains('line'), one.textContent])"
            )
            starts = [n for n, (is_line, _) in enumerate(found) if is_line] + [len(found)]
            return [text for _, text in found[starts[line - 1] + 1 : starts[line]]]

        at.page.locator(".problem.warning").first.wait_for()
        assert [text.partition(" ")[0] for text in below(2)] == ["note"]
        assert "grows with seen" in below(5)[0] and "grows with seen" in below(6)[0]
        assert below(1) == below(4) == below(7) == []
        at.page.get_by_role("status").filter(has_text="warning").wait_for()
        at.client.posted("seen", [{"at": "2024-01-01T15:00:00Z", "n": 1}])
        at.client.posted("seen", [{"at": "2024-01-01T10:00:00Z", "n": 1}])
        at.page.locator(".problem", has_text="1 row came too late").wait_for()
        assert below(1) == ["warning 1 row came too late and is in late_rows"]
        at.serving.troubled(f"{at.serving.pipeline.program.name}:3:1: <i>no</i> such sink")
        at.page.locator(".problem.error", has_text="<i>no</i> such sink").wait_for()
        assert [text.partition(" ")[0] for text in below(3)] == ["error"]
        at.serving.troubled("")
        at.page.locator(".problem.error").wait_for(state="detached")
        assert below(1) != []


def test_by_keyboard_alone(browser: Browser) -> None:
    with opened(browser, "views/turnover") as at:
        at.client.posted("orders", [order(1), order(2, "Blaise")])
        at.row_with("Ada").wait_for()

        def focused() -> str:
            return str(at.page.evaluate("() => document.activeElement.textContent"))

        def tab_to(text: str) -> None:
            for _ in range(40):
                at.page.keyboard.press("Tab")
                if focused().startswith(text):
                    assert (
                        at.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
                        != "none"
                    )
                    return
            pytest.fail(f"the Tab key doesn't lead to {text}")

        at.page.evaluate("() => document.body.focus()")
        tab_to("latest")
        at.page.keyboard.press("Enter")
        at.page.locator("h2", has_text="latest").wait_for()
        at.row_with("Blaise").wait_for()
        tab_to("shop")
        at.page.keyboard.press("Enter")
        at.page.locator("th[aria-sort=ascending]", has_text="shop").wait_for()
        assert focused().startswith("shop")  # where it was, though the head was made anew
        at.client.posted("orders", [order(3, "Curie")])
        at.row_with("Curie").wait_for()
        assert focused().startswith("shop")
        at.page.keyboard.press("Space")
        at.page.locator("th[aria-sort=descending]", has_text="shop").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_window_is_one_column(browser: Browser, scheme: str) -> None:
    with opened(browser, size=NARROW, color_scheme=scheme) as at:
        at.client.posted("orders", [order(1, "x" * 300), order(2, "a shop with many words " * 9)])
        for route in ("views/latest", "views/turnover/at/1", "circuit", "query", "steps", "program/turnover"):
            at.go(route)
            at.page.wait_for_timeout(300)
            width = at.page.evaluate("() => document.documentElement.scrollWidth")
            assert width <= NARROW[0], route
        ground = at.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        light = sum(json.loads(f"[{ground[4:-1]}]")) > 3 * 128
        assert light == (scheme == "light")


def test_a_server_that_went_and_came_back(browser: Browser) -> None:
    """The page says so meanwhile, and has what was missed."""
    with opened(browser, "views/turnover") as at:
        at.client.posted("orders", [order(1)])
        at.row_with("1.00").wait_for()
        at.page.context.set_offline(True)
        at.page.evaluate("() => window.dispatchEvent(new Event('pagehide'))")
        at.client.posted("orders", [order(2)])
        at.page.context.set_offline(False)
        at.page.evaluate("() => window.dispatchEvent(new Event('pageshow'))")
        at.row_with("2.00").wait_for()
        at.page.locator("#step", has_text="step 2").wait_for()
        at.wrong.clear()


def test_a_page_that_nobody_sees_holds_no_connection(browser: Browser) -> None:
    hide = (
        "(hidden) => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
        " document.dispatchEvent(new Event('visibilitychange')); }"
    )
    with opened(browser, "views/turnover") as at:
        at.client.posted("orders", [order(1)])
        at.row_with("1.00").wait_for()
        at.page.evaluate(hide, True)
        for n in (2, 3):  # a server notices at the next step
            at.client.posted("orders", [order(n)])
            at.page.wait_for_timeout(200)
        assert at.serving.subscriptions.open == 0
        at.page.evaluate(hide, False)
        at.row_with("3.00").wait_for()
        at.client.posted("orders", [order(4)])
        at.row_with("4.00").wait_for()


def test_a_wide_row_scrolls_within_its_table_and_keeps_its_lines(browser: Browser) -> None:
    times = ", ".join(f"at AS at_{n}" for n in range(9))
    program = f"""
    CREATE TABLE orders (id BIGINT PRIMARY KEY, shop STRING, at TIMESTAMP);
    CREATE VIEW wide AS SELECT *, {times}, repeat('a word ', 12) AS many FROM orders;
    """
    moment = "2024-01-02T03:04:05Z"
    for size in (WIDE, NARROW):
        with opened(browser, "views/wide", size, program) as at:
            at.client.posted("orders", [{"id": 1, "shop": "Ada", "at": moment}])
            at.row_with(moment).wait_for()
            assert at.page.evaluate("document.documentElement.scrollWidth") <= size[0]
            lines = """(cells) => cells.map((cell) => {
              const range = document.createRange();
              range.selectNodeContents(cell);
              return new Set([...range.getClientRects()].map((one) => Math.round(one.top))).size;
            })"""
            found = at.page.locator(".rows tbody td:not(.asks)").evaluate_all(lines)
            assert found[:-1] == [1] * 12 and 1 < found[-1] < 8


def test_why_is_left_with_the_view_that_it_is_about(browser: Browser) -> None:
    with opened(browser, "views/latest") as at:
        at.client.posted("orders", [order(1)])
        at.row_with("Ada").get_by_role("button", name="why").click()
        at.page.locator("dialog").wait_for()
        at.go("steps")
        at.page.locator("h2", has_text="Steps").wait_for()
        assert at.page.locator("dialog").count() == 0
