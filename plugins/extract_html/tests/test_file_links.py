"""Links to documents of other types."""

from __future__ import annotations

import pytest
from webfetch_extract_html import dom
from webfetch_extract_html.files import MAX_FILES, file_links

BASE = "https://a.example/dir/page.html"


def files(html: str) -> list[tuple[str, str]]:
    return [(link.url, link.text) for link in file_links(dom.parse(f"<body>{html}</body>"), BASE)]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<a href=r.pdf>Annual <b>report</b></a>", [("https://a.example/dir/r.pdf", "Annual report")]),
        ("<a href='/R.PDF?v=2#page=3'>x</a>", [("https://a.example/R.PDF?v=2#page=3", "x")]),
        ("<a type='application/pdf' href=/get/17>Report</a>", [("https://a.example/get/17", "Report")]),
        ("<a href=r.pdf title=Report><img src=i.png></a>", [("https://a.example/dir/r.pdf", "Report")]),
        ("<nav><a href=r.pdf>in the menu</a></nav>", [("https://a.example/dir/r.pdf", "in the menu")]),
        ("<a href=r.html>page</a> <a href=pdf>x</a> <a name=x.pdf>y</a>", []),
        ("<a href='javascript:open(\"r.pdf\")'>x</a>", []),
    ],
)
def test_anchors_with_the_type_or_the_ending(html: str, found: list[tuple[str, str]]) -> None:
    assert files(html) == found


def test_each_file_once_with_the_longest_text() -> None:
    assert files("<a href=r.pdf>PDF</a><a href=r.pdf>The whole report</a>") == [
        ("https://a.example/dir/r.pdf", "The whole report")
    ]


def test_only_so_many() -> None:
    assert len(files("".join(f"<a href={n}.pdf>{n}</a>" for n in range(MAX_FILES + 9)))) == MAX_FILES
