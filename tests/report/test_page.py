"""The page in a browser without a network: it draws, it fits, it can be read and reached, and it runs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.report.conftest import Made

Make = Callable[[str], Made]

#: Least contrast of every visible text with what is behind it (WCAG 2.2, 1.4.3), each with its text.
CONTRASTS = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const parse = (colour) => {
        canvas.clearRect(0, 0, 1, 1);
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = (top, base) => [0, 1, 2].map((ix) => top[ix] * top[3] + base[ix] * (1 - top[3]));
    const light = (rgb) => {
        const [r, g, b] = rgb.map((each) => (each /= 255) <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
        const layers = [];
        for (let each = element; each; each = each.parentElement)
            layers.push(parse(getComputedStyle(each).backgroundColor));
        return layers.reverse().reduce((base, layer) => layer[3] ? over(layer, base) : base, [255, 255, 255]);
    };
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || ['SCRIPT', 'STYLE'].includes(element.tagName) || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const base = behind(element);
        const is_svg = element.namespaceURI.endsWith('svg');
        const ink = over(parse(is_svg ? style.fill : style.color), base);
        const [dark, bright] = [light(ink), light(base)].sort((a, b) => a - b);
        found.push([(bright + 0.05) / (dark + 0.05), text.slice(0, 40), is_svg ? style.fill : style.color]);
    }
    return found;
}"""


@contextmanager
def opened(browser: Browser, made: Made, folder: Path, **context: Any) -> Iterator[Page]:
    """Open a report without a network; anything it says to the console or asks for fails the test."""
    file = folder / "report.html"
    file.write_text(made.page, encoding="utf-8")
    said: list[str] = []
    asked: list[str] = []
    with browser.new_context(offline=True, **context) as own:
        page = own.new_page()
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("dialog", lambda dialog: said.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(file.as_uri())
        yield page
        page.wait_for_timeout(50)
    assert said == []
    assert asked == [file.as_uri()]


def open_all(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details:not(.sql)').forEach((each) => { each.open = true; })")
    page.wait_for_function("[...document.querySelectorAll('.chart')].every((each) => each.querySelector('svg'))")


def test_a_page_draws_offline_and_every_text_can_be_read_in_light_dark_and_print(
    browser: Browser, made: Make, tmp_path: Path
) -> None:
    with opened(browser, made("missing_evidence"), tmp_path) as page:
        open_all(page)
        # A forest for each metric, the grid, slopes of three candidates, the trade-offs.
        assert page.locator(".chart svg").count() == 2 + 1 + 3 + 1
        assert page.locator(".chart svg .mark-symbol.role-mark path").count() > 20
        backgrounds = set()
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            contrasts = page.evaluate(CONTRASTS)
            assert len(contrasts) > 200
            assert [each for each in contrasts if each[0] < 4.5] == []
            backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert len(backgrounds) == 2
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = false; })")
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator("#failing-cells").evaluate("(each) => each.open")
        assert not page.locator("details.sql").first.is_visible()


@pytest.mark.parametrize("kind", ["missing_evidence", "hostile", "many"])
def test_a_phone_scrolls_tables_but_never_the_page(browser: Browser, made: Make, tmp_path: Path, kind: str) -> None:
    with opened(browser, made(kind), tmp_path, viewport={"width": 360, "height": 740}) as page:
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        # Candidates stand one below the other, so that nothing of them needs scrolling.
        assert page.locator("#candidates .scroll").first.evaluate("(each) => each.scrollWidth <= each.clientWidth")
        assert page.locator(".chart svg").first.bounding_box()["width"] <= 328  # type: ignore[index]  # it is there


def test_everything_can_be_reached_by_the_keyboard_and_a_count_leads_to_its_cells(
    browser: Browser, made: Make, tmp_path: Path
) -> None:
    with opened(browser, made("missing_evidence"), tmp_path) as page:
        page.locator(".chart svg").first.wait_for()
        focusable = (
            "[...document.querySelectorAll('a[href], summary, [tabindex=\"0\"]')].filter((e) => e.checkVisibility())"
        )
        expected = page.evaluate(f"{focusable}.length")
        assert expected > 30
        reached = set()
        for _ in range(expected):
            page.keyboard.press("Tab")
            reached.add(page.evaluate(f"{focusable}.indexOf(document.activeElement)"))
        assert reached == set(range(expected))
        page.locator("a[href^='#cells-']").first.press("Enter")
        target = page.evaluate("location.hash")
        assert page.locator(target).get_by_role("rowheader").first.is_visible()
        # So does a mark of the grid.
        page.evaluate(
            "location.hash = ''; document.querySelectorAll('details').forEach((each) => { each.open = false; })"
        )
        page.locator("#chart-coverage svg .mark-symbol.role-mark path").first.click()
        page.wait_for_function("location.hash.startsWith('#cells-')")
        assert page.locator(page.evaluate("location.hash")).get_by_role("rowheader").first.is_visible()


def test_texts_that_want_to_be_something_else_are_text(browser: Browser, made: Make, tmp_path: Path) -> None:
    with opened(browser, made("hostile"), tmp_path) as page:
        open_all(page)
        assert page.locator("img").count() == 0
        assert page.locator("script:not([data-chart])").count() == 2
        assert page.locator("b i, i b, u, bdi *").count() == 0
        shown = page.locator("body").inner_text()
        assert (
            "</script><img src=x onerror=alert(1)>'; drop table cells; -- \\x1b[31m\\u202e\\u2028${7*7} {{7*7}}"
            in shown
        )
        assert not any(sign in made("hostile").page for sign in "\x1b\u202e\u2028")
        # A tooltip is made of what a mark stands for.
        page.locator("#chart-coverage svg .mark-symbol.role-mark path").first.hover()
        page.wait_for_function("document.querySelector('#vg-tooltip-element.visible')")
        assert "<script>alert(1)</script>" in page.locator("#vg-tooltip-element").inner_text()
        assert page.locator("#vg-tooltip-element :is(img, script)").count() == 0


def test_names_of_every_script_stand_as_they_are(browser: Browser, made: Make, tmp_path: Path) -> None:
    with opened(browser, made("multilingual"), tmp_path) as page:
        rows = page.locator("#candidates table").first.locator("tbody th bdi").all_inner_texts()
        assert sorted(rows) == sorted(["更大的块 🧩", "👩‍👩‍👧‍👦 family", "قطع أصغر"])
        assert (
            page.locator("#candidates tbody th bdi", has_text="قطع").first.evaluate(
                "(e) => getComputedStyle(e).unicodeBidi"
            )
            == "isolate"
        )
        assert "قطع أصغر" in page.locator("#chart-forest-0 svg").first.text_content()  # type: ignore[operator]


def test_tables_have_names_and_headings_and_charts_say_what_they_show(
    browser: Browser, made: Make, tmp_path: Path
) -> None:
    with opened(browser, made("win"), tmp_path) as page:
        assert page.locator("table:not(#vg-tooltip-element table)").count() > 8
        assert page.locator("thead th:not([scope=col]), tbody th:not([scope=row])").count() == 0
        assert page.locator(".scroll:not([aria-label])").count() == 0
        assert page.locator("[role=img] > .chart").count() == page.locator(".chart").count() > 0
        label = page.locator("[role=img]:has(> #chart-forest-0)").get_attribute("aria-label")
        assert label is not None
        assert "largest +0.1204 (pass)" in label


@pytest.mark.parametrize(
    "kind", ["no_candidates", "cancelled", "ingested", "failed_stratum", "awaiting_review", "loss"]
)
def test_every_kind_of_ending_has_a_page_that_stands(browser: Browser, made: Make, tmp_path: Path, kind: str) -> None:
    with opened(browser, made(kind), tmp_path) as page:
        assert page.locator("h1").count() == 1
        assert page.locator("main section").count() == 8
        assert "StrictUndefined" not in page.content()
