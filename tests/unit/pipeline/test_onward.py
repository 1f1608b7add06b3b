"""Files that pages link to: which have to do with the query, and how they join the search."""

from __future__ import annotations

from typing import Any

import pytest

from webfetch_core.api import Document, ExtractTraits, FileLink, SearchHit
from webfetch_core.models import Page
from webfetch_core.pipeline.onward import FILES_PER_PAGE, FILES_PER_SEARCH, THIN, files_to_read, words_of
from webfetch_core.testing import ScriptedExtractor, fake_plugin

URL = "https://a.example/reports"
PDF = ("application/pdf",)
LONG = "The board writes about many things on this page. " * 20
QUERY = "annual report of the harbour board"


def document(*files: FileLink, text: str = LONG) -> Document:
    return Document(url=URL, text=text, files=files)


def link(name: str, text: str = "", media_type: str = "application/pdf") -> FileLink:
    return FileLink(url=f"https://a.example/{name}", text=text, media_type=media_type)


def chosen(*files: FileLink, query: str = QUERY, text: str = LONG) -> list[str]:
    return [
        found.url.rpartition("/")[2] for _, found in files_to_read(query, document(*files, text=text), PDF)
    ]


@pytest.mark.parametrize(
    "file",
    [
        link("d/17", "Annual Report 2024"),
        link("Harbour-Board_annual_reports.pdf"),
        link("annual%20report.pdf"),
    ],
)
def test_a_file_counts_by_its_name_and_by_the_text_of_its_link(file: FileLink) -> None:
    assert len(chosen(file)) == 1


@pytest.mark.parametrize("file", [link("menu.pdf", "Lunch menu"), link("report.pdf"), link("d/1", "the of")])
def test_one_that_has_little_to_do_with_the_query_is_left(file: FileLink) -> None:
    assert chosen(file) == []


def test_the_best_come_first_and_only_so_many() -> None:
    files = [link(f"annual-report-{n}.pdf") for n in range(5)] + [link("annual-report-harbour-board.pdf")]
    found = chosen(*files)
    assert found[0] == "annual-report-harbour-board.pdf" and len(found) == FILES_PER_PAGE


def test_on_a_page_that_says_nothing_itself_names_do_not_matter() -> None:
    assert chosen(link("0017.pdf"), text="Download") == ["0017.pdf"]
    assert chosen(link("0017.pdf"), text="x" * (THIN + 1)) == []
    assert chosen(*(link(f"{n}.pdf") for n in range(9)), text="Downloads") == []


def test_other_types_are_left() -> None:
    assert chosen(link("annual-report.docx", media_type="application/msword")) == []


def test_words_that_say_nothing_do_not_count() -> None:
    assert words_of("What is the height of the Towers?") == {"height", "tower"}


class Pages:
    """Pages by URL: their text, and the files they link to."""

    def __init__(self, files: dict[str, tuple[FileLink, ...]]) -> None:
        self.files = files

    def __call__(self, page: Page) -> Document:
        text = page.body.decode()
        return Document(url=page.url, text=text, files=self.files.get(page.url, ()))


def search(
    world: Any, files: tuple[FileLink, ...], served: dict[str, str], *, types: Any = PDF, **options: Any
) -> Any:
    pages = {URL: LONG, **served}
    extract = ScriptedExtractor(Pages({URL: files}))
    beside = fake_plugin("extract", ScriptedExtractor(), "files", traits=ExtractTraits(content_types=types))
    one = world(
        engines={"alpha": [[SearchHit(url=URL, title="Reports")]]},
        pages=pages,
        extract=extract,
        plugins=[beside],
    )
    return one, one.search(QUERY, **options)


def test_files_are_read_behind_the_hits_and_say_where_they_were_found(world: Any) -> None:
    file = link("annual-report.pdf", "Annual report of the board")
    one, result = search(world, (file,), {file.url: "The harbour board spent nine million on the quay."})
    assert one.fetched == [URL, file.url]
    assert [(hit.url, hit.rank, hit.engine) for hit in result.hits] == [
        (URL, 1, "alpha"),
        (file.url, 2, "link"),
    ]
    assert result.hits[1].extra == {"found_on": URL} and result.hits[1].title == file.text
    assert file.url in {chunk.url for chunk in result.chunks}
    assert file.url in {attempt.target for attempt in result.attempts if attempt.stage == "fetch"}


def test_no_more_than_so_many_for_a_search(world: Any) -> None:
    hits = [SearchHit(url=f"https://a.example/p{n}", title=str(n)) for n in range(4)]
    files = {hit.url: tuple(link(f"annual-report-{hit.title}-{k}.pdf") for k in range(3)) for hit in hits}
    served = {file.url: "The annual report." for each in files.values() for file in each}
    extract = ScriptedExtractor(Pages(files))
    beside = fake_plugin("extract", ScriptedExtractor(), "files", traits=ExtractTraits(content_types=PDF))
    one = world(
        engines={"alpha": [hits]},
        pages={hit.url: LONG for hit in hits} | served,
        extract=extract,
        plugins=[beside],
    )
    one.search(QUERY)
    assert sum(url in served for url in one.fetched) == FILES_PER_SEARCH


def test_without_an_extractor_for_them_files_are_left(world: Any) -> None:
    file = link("annual-report.pdf")
    one, _ = search(world, (file,), {file.url: "text"}, types=("text/csv",))
    assert one.fetched == [URL]


def test_the_domains_that_were_asked_for_hold_for_files_too(world: Any) -> None:
    file = FileLink(url="https://b.example/annual-report.pdf")
    one, _ = search(world, (file,), {file.url: "text"}, include_domains=("a.example",))
    assert one.fetched == [URL]


@pytest.mark.parametrize(
    "url", ["file:///etc/annual-report.pdf", "javascript:annual-report.pdf", "local:x/annual-report.pdf"]
)
def test_files_are_taken_from_the_web_alone(world: Any, url: str) -> None:
    one, result = search(world, (FileLink(url=url),), {})
    assert one.fetched == [URL] and len(result.hits) == 1


def test_a_file_that_fails_costs_nothing_else(world: Any) -> None:
    file = link("annual-report.pdf")
    _, result = search(world, (file,), {})
    assert {chunk.url for chunk in result.chunks} == {URL}
    assert [failed.url for failed in result.failed_urls] == [file.url]
