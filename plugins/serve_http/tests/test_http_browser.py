"""The page in a real Chromium, by keyboard, in the dark and in the light; skipped where there is none.

``TEST_ARTEFACTS=FOLDER`` keeps the screenshots there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api")
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium: one that is on the PATH, or playwright's own."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    with sync_api.sync_playwright() as playwright:
        if found is None and not Path(playwright.chromium.executable_path).exists():
            pytest.skip("no Chromium here")
        try:
            made = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"], timeout=60_000)
        except sync_api.Error as exc:
            pytest.skip(f"Chromium does not start here: {str(exc)[:200]}")
        yield made
        made.close()


@pytest.fixture
def artefacts(tmp_path: Path) -> Path:
    folder = Path(os.environ.get("TEST_ARTEFACTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_search_by_keyboard(
    browser: Any, artefacts: Path, make_server: Callable[..., Any], scheme: str
) -> None:
    complaints: list[str] = []
    with make_server() as server:
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": 1100, "height": 900}, java_script_enabled=False
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on(
            "request",
            lambda request: complaints.append(request.url) if server.url not in request.url else None,
        )
        page.goto(server.url)
        page.locator("input[name=q]:focus").wait_for()  # by itself, a moment after the page is there
        page.keyboard.type("warp tension")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("q=warp"))
        assert page.get_by_role("heading", level=2).all_inner_texts()[0].startswith("Excerpts")
        assert page.get_by_role("table").count() == 3
        assert page.get_by_role("searchbox", name="What to find").input_value() == "warp tension"
        assert "180 g" in page.get_by_role("article").first.inner_text()
        ground = page.locator("body").evaluate("body => getComputedStyle(body).backgroundColor")
        assert (ground == "rgb(255, 255, 255)") is (scheme == "light"), (
            "the style is the page's own, by its hash"
        )
        page.keyboard.press("Tab")
        assert page.locator(":focus").inner_text() == "Skip to the content"
        assert page.locator(":focus").bounding_box()["x"] >= 0, "it is seen when it has the focus"
        page.screenshot(path=artefacts / f"serve_http_page_{scheme}.png", full_page=True)
        page.locator("td details summary").first.focus()
        page.keyboard.press("Enter")
        page.locator("td details a.read").first.focus()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("read="))
        assert page.get_by_role("heading", level=1).inner_text() == "Warp tension guide"
        context.close()
    assert complaints == []


@pytest.mark.slow
def test_it_fits_a_telephone(browser: Any, artefacts: Path, make_server: Callable[..., Any]) -> None:
    with make_server() as server:
        page = browser.new_page(viewport={"width": 360, "height": 700})
        page.set_default_timeout(30_000)
        page.goto(f"{server.url}/?q=warp+tension")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.screenshot(path=artefacts / "serve_http_page_telephone.png", full_page=True)
        page.close()
