"""The site is whole and stands alone: no link leads nowhere, and nothing is loaded from elsewhere."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser

from tests.docs.pages import written_pages

#: Attributes that make a browser load something, by tag; of links only those that are no navigation.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class _Page(HTMLParser):
    """What a page loads, where its links lead, and what they can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if told.get("id"):
            self.anchors.add(told["id"])
        if tag in LOADED and LOADED[tag] in told and told.get("rel") != "canonical":
            self.loaded.append(told[LOADED[tag]])
        if tag == "a" and "href" in told:
            self.links.append(told["href"])


@pytest.fixture(scope="session")
def html(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def test_every_written_page_is_built(html: dict[Path, _Page], site: Path) -> None:
    built = {str(path.relative_to(site).with_suffix(".md")) for path in html}
    assert written_pages().keys() <= built


def test_every_page_can_be_reached_from_the_first(html: dict[Path, _Page], site: Path) -> None:
    reached: set[Path] = set()
    waiting = [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached or path not in html:
            continue
        reached.add(path)
        waiting += [_target(path, link)[0] for link in html[path].links if not urlsplit(link).scheme]
    assert html.keys() - reached == {site / "404.html"}


def test_no_link_and_no_anchor_is_broken(html: dict[Path, _Page], site: Path) -> None:
    broken = []
    for path, page in html.items():
        if path.name == "404.html":
            continue  # it is shown at any address, so that its links are from the root
        for link in page.links:
            if urlsplit(link).scheme in ("https", "http", "mailto"):
                continue
            target, anchor = _target(path, link)
            if target not in html or (anchor and anchor not in html[target].anchors):
                broken.append(f"{path.relative_to(site)}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_elsewhere(html: dict[Path, _Page], site: Path) -> None:
    loaded = [(path, each) for path, page in html.items() for each in page.loaded if path.name != "404.html"]
    assert loaded
    assert [each for _, each in loaded if urlsplit(each).scheme not in ("", "data") or each.startswith("//")] == []
    assert [str(target) for path, each in loaded if not (target := _target(path, each)[0]).exists()] == []
    styles = {path.name: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    urls = [(name, url) for name, text in styles.items() for url in re.findall(r"url\(['\"]?([^'\")]+)", text)]
    assert [each for each in urls if urlsplit(each[1]).scheme not in ("", "data") or each[1].startswith("//")] == []
    assert not any("@import" in text for text in styles.values())


def test_the_pages_work_without_the_network(site: Path, browser: Browser) -> None:
    said: list[str] = []
    with _served(site) as address:
        ours = (address, "data:")
        page = browser.new_page()
        page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: said.append(str(error)))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(ours) else None)
        for name in ("index.html", "reference/relations/pairs.html", "tutorial/first-campaign.html"):
            page.goto(f"{address}/{name}")
            assert page.locator("h1").count() == 1
        page.close()
    assert said == []


def _target(path: Path, link: str) -> tuple[Path, str]:
    """Return the file and the anchor that a link on a page leads to."""
    told = urlsplit(link)
    return (path.parent / unquote(told.path)).resolve() if told.path else path, unquote(told.fragment)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
