"""The page, read as a parser reads it: what it shows, that it is safe, and that anybody can use it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import attrs
import pytest

from webfetch_core.api import Chunk, Unavailable
from webfetch_core.testing import ScriptedCompressor, ScriptedEngine

WARP, GONE, EVIL = "https://loom.example/warp", "https://loom.example/gone", "https://evil.example/page"
Server = Any  # the running server of conftest.py
Serve = Callable[..., Any]
VOID = {"meta", "input", "link", "br", "hr", "img", "rect"}


class Parsed(HTMLParser):
    """Every element with its attributes and its text; complains where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(text)
        assert not self._open, f"never closed: {[name for name, _, _ in self._open]}"

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in given}, [])
        self.elements.append(element)
        if tag not in VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open and self._open[-1][0] == tag, f"</{tag}> closes nothing"
            self._open.pop()

    def handle_data(self, data: str) -> None:
        for _, _, texts in self._open:
            texts.append(data)

    def all(self, tag: str, **wanted: str) -> list[str]:
        return [
            "".join(t) for name, given, t in self.elements if name == tag and wanted.items() <= given.items()
        ]

    def attributes(self, tag: str) -> list[dict[str, str]]:
        return [given for name, given, _ in self.elements if name == tag]


PATHS = (
    "/",
    "/?q=warp+tension",
    "/?q=!",
    f"/?read={quote(WARP)}",
    f"/?read={quote(GONE)}",
    f"/?read={quote(EVIL)}",
    "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E+warp&freshness=%22x",
)


def pages(server: Server) -> Iterator[tuple[str, str]]:
    for path in PATHS:
        yield path, server.get(path).text


def test_every_stage_is_shown(server: Server) -> None:
    reply = server.get("/?q=warp+tension")
    assert reply.status == 200
    page = Parsed(reply.text)
    told = " ".join(" ".join(page.all("main")).split())
    assert "Fresh search" in told and "kept" in told
    assert [text.partition(":")[0] for text in page.all("h2")] == [
        "Excerpts", "Waterfall", "Engines", "Pages", "Passages",
    ]  # fmt: skip
    for text in (
        "loom",
        "not_found",
        "no such page",
        "loom #1",
        "Score 2.000",
        "extracted: 77 characters",
        "fetch: fake",
    ):
        assert text in told, text
    assert len(page.attributes("rect")) > 4
    again = " ".join(Parsed(server.get("/?q=warp+tension").text).all("main"))
    assert "From the cache: the same question" in again
    assert "Fresh search" in server.get("/?q=warp+tension&fresh=1").text


def test_what_compression_cut_is_struck_through(serve: Serve) -> None:
    def last_sentence(query: str, chunks: list[Chunk], budget: int) -> list[Chunk]:
        return [attrs.evolve(chunks[0], text="Start the warp at 180 g per end.")]

    page = Parsed(serve(compressor=ScriptedCompressor(last_sentence)).get("/?q=warp+tension").text)
    cut = [" ".join(text.split()) for text in page.all("del")]
    assert "[cut: Loosen it after an hour.]" in cut and "[cut: Warp tension guide ]" in cut
    assert any("A temple keeps the edge" in text for text in cut), "a passage that is left out altogether"
    assert page.all("article")[0].split()[-8:] == ["Start", "the", "warp", "at", "180", "g", "per", "end."]


def test_hostile_text_stays_text(server: Server) -> None:
    for path, text in pages(server):
        page = Parsed(text)
        names = {name for name, _, _ in page.elements}
        assert not names & {"script", "img", "iframe", "object", "embed", "link", "base", "b", "i"}, path
        for _, given, _ in page.elements:
            assert not [name for name in given if name.startswith("on") or name == "style"], path
        for given in page.attributes("a"):
            assert given["href"].startswith(("/", "#", "https://")), path
            assert given["href"][0] in "/#" or given["rel"] == "noreferrer noopener nofollow", path
    assert "&lt;script&gt;" in server.get("/?q=warp+tension").text


def test_nothing_is_loaded_from_anywhere(server: Server) -> None:
    for path, text in pages(server):
        policy = server.get(path).headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-") and "unsafe" not in policy
        assert (
            "url(" not in text
            and "@import" not in text
            and "src=" not in text.replace("onerror", "").replace("src=x", "")
        ), path


def test_anybody_can_use_it(server: Server) -> None:
    """Landmarks, one first heading, levels that do not jump, labels, table heads, names for what scrolls."""
    for path, text in pages(server):
        page = Parsed(text)
        assert page.attributes("html") == [{"lang": "en"}], path
        assert len(page.all("h1")) == 1 and len(page.all("title")) == 1, path
        for landmark in ("header", "main", "footer"):
            assert len(page.all(landmark)) == 1, (path, landmark)
        levels = [int(name[1]) for name, _, _ in page.elements if re.fullmatch(r"h[1-6]", name)]
        assert all(b - a <= 1 for a, b in pairwise(levels)), (path, levels)
        ids = [given["id"] for _, given, _ in page.elements if "id" in given]
        assert len(ids) == len(set(ids)), path
        labels = {given.get("for") for given in page.attributes("label")}
        for given in page.attributes("input") + page.attributes("select"):
            assert given["id"] in labels, (path, given)
        for _, given, _ in page.elements:
            if "aria-labelledby" in given:
                assert given["aria-labelledby"] in ids, (path, given)
            if given.get("href", "").startswith("#"):
                assert given["href"][1:] in ids, (path, given)
            if given.get("class") == "scroll":
                assert given["tabindex"] == "0" and given["role"] == "region", path
        assert len(page.all("caption")) == len(page.all("table")), path
        assert all(given.get("scope") in ("col", "row") for given in page.attributes("th")), path
        assert all(given.get("aria-hidden") == "true" for given in page.attributes("svg")), path
        assert "".join(page.all("a", **{"class": "skip"})) == "Skip to the content", path


def test_the_form_keeps_what_was_asked(server: Server) -> None:
    page = Parsed(server.get("/?q=warp+%22x%22+%3C&fresh=1&freshness=stable").text)
    fields = {given["name"]: given for given in page.attributes("input")}
    assert fields["q"]["value"] == 'warp "x" <' and "checked" in fields["fresh"]
    assert [given["value"] for given in page.attributes("option") if "selected" in given] == ["stable"]


def test_one_page_is_read(server: Server) -> None:
    page = Parsed(server.get(f"/?read={quote(WARP)}").text)
    assert page.all("h1") == ["Warp tension guide"] and "180 g" in page.all("div", **{"class": "text"})[0]
    gone = server.get(f"/?read={quote(GONE)}")
    assert gone.status == 404 and "not_found" in gone.text


@pytest.mark.parametrize("path", ["/?q=!", "/?q=warp&freshness=soon", "/?q=" + "x" * 3_000])
def test_a_bad_question_is_told(server: Server, path: str) -> None:
    reply = server.get(path)
    assert reply.status == 400 and Parsed(reply.text).all("h1") == ["No answer"]


def test_no_engine_is_told_engine_by_engine(serve: Serve) -> None:
    reply = serve(engine=ScriptedEngine(Unavailable("the engine is down"))).get("/?q=warp")
    assert reply.status == 503 and reply.headers["retry-after"]
    assert any("the engine is down" in text for text in Parsed(reply.text).all("td"))


def test_text_can_be_read_on_its_ground_in_both_schemes() -> None:
    """WCAG AA: 4.5 to 1 for text, 3 to 1 for bars."""
    css = files("webfetch_serve_http").joinpath("templates/page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--(\w+):(#\w+)", part))
        for part in (css.split("}")[0], css.split("dark){")[1].split("}")[0])
    )
    for scheme in (light, dark):
        for ink in ("ink", "soft", "link", "good", "bad", "cut"):
            for ground in ("paper", "panel"):
                assert contrast(scheme[ink], scheme[ground]) >= 4.5, (ink, ground, scheme)
        for bar in ("cache", "search", "fetch", "extract", "rank", "compress", "other"):
            assert contrast(scheme[bar], scheme["panel"]) >= 3, (bar, scheme)


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)
