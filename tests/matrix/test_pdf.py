"""PDF files through every real plugin: in a worker that can be ended, behind links, from folders."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webfetch_core import Settings, Webfetch
from webfetch_core.api import SearchTraits
from webfetch_core.cli import main
from webfetch_core.errors import PageError, WebfetchError
from webfetch_core.pipeline import window
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite, ScriptedEngine, fake_plugin

STAGES = ("fetch_http", "extract_html", "extract_pdf", "rank_bm25", "cache_lmdb")
FACT = "The annual report says that the harbour board spent nine million on the northern quay."


def pdf(*pages: str, content: bytes = b"", entries: str = "") -> bytes:
    """A file of one line a page; the readers find its objects without a table of them. ``content`` replaces
    the drawing operations of every page, with ``entries`` for its stream."""
    kids = " ".join(f"{10 + 2 * n} 0 R" for n in range(len(pages)))
    parts = [
        b"%PDF-1.4\n1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj\n",
        f"2 0 obj << /Type /Pages /Kids [{kids}] /Count {len(pages)} >> endobj\n".encode(),
        b"3 0 obj << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> endobj\n",
    ]
    for n, text in enumerate(pages):
        drawn = content or f"BT /F1 11 Tf 50 780 Td ({text}) Tj ET".encode()
        parts.append(
            f"{10 + 2 * n} 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
            f"/Contents {11 + 2 * n} 0 R /Resources << /Font << /F1 3 0 R >> >> >> endobj\n"
            f"{11 + 2 * n} 0 obj << /Length {len(drawn)} {entries} >> stream\n".encode()
            + drawn
            + b"\nendstream endobj\n"
        )
    return b"".join(parts) + b"trailer << /Root 1 0 R >>\n%%EOF\n"


@pytest.fixture
def site() -> Iterator[LoopbackSite]:
    with LoopbackSite() as running:
        yield running


@pytest.fixture
def open_one(tmp_path: Path) -> Iterator[Callable[..., Webfetch]]:
    made: list[Webfetch] = []

    def make(*urls: str, plugins: tuple[str, ...] = STAGES, **settings: Any) -> Webfetch:
        mine = fake_plugin("search", ScriptedEngine(list(urls)), "mine", traits=SearchTraits())
        settings.setdefault("net", NetSettings(allow_hosts=("127.0.0.1",)))
        wf = Webfetch(
            Settings(home=str(tmp_path / "home"), allow_plugins=plugins, **settings),
            plugins=[(mine.name, mine)],
            environ={},
        )
        made.append(wf)
        return wf

    yield make
    for wf in made:
        wf.close()


def landing(*links: str) -> str:
    things = (
        "quay",
        "lock",
        "ferry",
        "lamp",
        "basin",
        "weir",
        "crane",
        "gate",
        "pier",
        "tower",
        "dock",
        "mole",
    )
    text = "".join(
        f"<p>The minutes of the {thing} are read aloud on Mondays in the hall.</p>" for thing in things
    )
    body = f"<article><h1>Reports</h1>{text}{''.join(links)}</article>"
    return f"<html><head><title>Reports</title></head><body>{body}"


def serve(site: LoopbackSite, path: str, body: bytes, kind: str = "application/pdf") -> None:
    site.add(path, body, headers={"Content-Type": kind})


# ---- in a worker ------------------------------------------------------------------------------------------


def test_a_pdf_is_extracted_in_a_worker_however_small(open_one: Any) -> None:
    wf = open_one(extract_workers=1)
    assert wf.extract(b"<p>A small page of HTML.</p>") is not None
    assert wf.host.workers().pids == ()
    document = wf.extract(pdf(FACT), content_type="application/pdf")
    assert document.text == FACT
    assert len(wf.host.workers().pids) == 1


def test_without_workers_it_is_extracted_here(open_one: Any) -> None:
    assert open_one(extract_workers=0).extract(pdf(FACT), content_type="application/pdf").text == FACT


def test_errors_of_the_page_come_back_as_they_are(open_one: Any) -> None:
    with pytest.raises(PageError) as caught:
        open_one(extract_workers=1).extract(b"<html>", content_type="application/pdf")
    assert caught.value.kind == "unsupported_type"


def nested(depth: int, times: int) -> bytes:
    """A page that draws a form ``times`` times, which draws another as often, and so on."""
    draw = b"/F Do " * times
    forms = b"".join(
        b"%d 0 obj << /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length %d "
        b"/Resources << /XObject << /F %d 0 R >> >> >> stream\n%s\nendstream endobj\n"
        % (100 + n, len(draw), 101 + n, draw if n + 1 < depth else b"0 0 m")
        for n in range(depth)
    )
    body = pdf("x", content=draw).replace(b"/Resources <<", b"/Resources << /XObject << /F 100 0 R >>")
    return body.replace(b"trailer", forms + b"trailer")


def test_a_page_that_takes_all_time_is_ended_with_its_worker_and_the_next_one_is_read(open_one: Any) -> None:
    """No time limit reaches into the library: only ending its process does."""
    wf = open_one(extract_workers=1, fetch_timeout_s=6.0)
    wf.extract(pdf(FACT), content_type="application/pdf")
    [before] = wf.host.workers().pids
    with pytest.raises(WebfetchError) as caught:
        wf.extract(nested(12, 40), content_type="application/pdf")
    assert caught.value.kind in ("timeout", "plugin_error")  # its time, or its memory
    assert wf.extract(pdf(FACT), content_type="application/pdf").text == FACT
    assert wf.host.workers().pids != (before,)


def test_what_was_read_by_the_end_of_the_time_is_returned(open_one: Any) -> None:
    lines = " ".join(["The water was low that day."] * 30)
    body = pdf(*[f"{n} {lines}" for n in range(3_000)])
    wf = open_one(extract_workers=1, fetch_timeout_s=6.0)
    document = wf.extract(body, content_type="application/pdf")
    assert "truncated" in document.flags
    assert document.text.startswith("0 The water")
    assert 0 < document.text.count("The water") < 90_000


def test_memory_stays_where_it_is_over_many_files(open_one: Any) -> None:
    wf = open_one(extract_workers=1)
    body = pdf(*[f"{n} {FACT}" for n in range(40)])
    sizes = []
    for turn in range(30):
        assert wf.extract(body, content_type="application/pdf") is not None
        if turn % 10 == 9:
            [pid] = wf.host.workers().pids
            status = Path(f"/proc/{pid}/status").read_text()
            sizes.append(int(re.search(r"VmRSS:\s+(\d+)", status)[1]))  # type: ignore[index]
    gc.collect()
    assert sizes[-1] - sizes[0] < 4_000, f"kB after 10, 20 and 30 files: {sizes}"


# ---- over HTTP ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["application/pdf", "application/octet-stream", "text/html"])
def test_a_pdf_is_fetched_whatever_it_is_called(open_one: Any, site: LoopbackSite, kind: str) -> None:
    serve(site, "/download", pdf(FACT), kind)
    assert open_one().fetch(site.url("/download")).text == FACT


def test_a_scan_is_told_and_not_cached(open_one: Any, site: LoopbackSite) -> None:
    serve(site, "/scan.pdf", pdf("x", content=b"0 g 60 700 m 80 720 100 740 120 700 c f"))
    wf = open_one()
    for _ in range(2):
        with pytest.raises(WebfetchError) as caught:
            wf.fetch(site.url("/scan.pdf"))
        assert caught.value.kind == "no_text_layer"
    assert wf.cache().stats()["entries"].get("pages", 0) == 0


def test_the_report_behind_a_landing_page_answers(
    open_one: Any, site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AFTER_PAGE_S", "AFTER_HITS_S", "AFTER_MOST_S"):  # it is not about speed here
        monkeypatch.setattr(window, name, 20.0)
    site.add(
        "/reports",
        landing("<a href=/d/17 type=application/pdf>Annual report</a>", "<a href=/menu.pdf>Lunch</a>"),
    )
    serve(site, "/d/17", pdf(FACT))
    serve(site, "/menu.pdf", pdf("Soup and bread."))
    result = open_one(site.url("/reports"), deadline_s=25.0).search("annual report of the harbour board")
    assert FACT in {chunk.text for chunk in result.chunks}
    assert result.hits[-1].url == site.url("/d/17")
    assert result.hits[-1].extra == {"found_on": site.url("/reports")}
    assert "/menu.pdf" not in site.paths


def test_without_the_plugin_the_report_is_left(open_one: Any, site: LoopbackSite) -> None:
    site.add("/reports", landing("<a href=/annual-report.pdf>Annual report</a>"))
    plugins = tuple(name for name in STAGES if name != "extract_pdf")
    open_one(site.url("/reports"), plugins=plugins).search("annual report of the harbour board")
    assert "/annual-report.pdf" not in site.paths


def test_links_to_files_pass_the_guard_as_every_url(open_one: Any, site: LoopbackSite) -> None:
    inner = "http://169.254.169.254/annual-report.pdf"
    site.add("/reports", landing(f"<a href={inner}>Annual report of the harbour board</a>"))
    result = open_one(site.url("/reports"), deadline_s=25.0).search("annual report of the harbour board")
    assert [(failed.url, failed.kind) for failed in result.failed_urls] == [(inner, "refused")]


# ---- from folders -----------------------------------------------------------------------------------------


def test_folders_of_pdf_files_are_indexed_and_found(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(pdf(FACT))
    (folder / "scan.pdf").write_bytes(pdf("x", content=b"0 g 60 700 m 80 720 100 740 120 700 c f"))
    environ = {"WEBFETCH_HOME": str(tmp_path / "home"), "HOME": str(tmp_path), "PATH": ""}
    assert main(["index", "add", str(folder), "--name", "papers"], environ=environ) == 0
    settings = Settings(home=str(tmp_path / "home"), search=("local",))
    with Webfetch(settings, environ=environ) as wf:
        result = wf.search("who spent nine million on the quay")
    assert [hit.url for hit in result.hits] == ["local:papers/report.pdf"]
    assert FACT in result.chunks[0].text
