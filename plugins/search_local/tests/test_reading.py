from __future__ import annotations

from typing import Any

import pytest
from webfetch_search_local.reading import Reading, Unreadable, headings_of, read_document

from webfetch_core.api import Document, NotConfigured, Page, PageError


def no_extractor(page: Page) -> Document | None:
    raise NotConfigured("none")


def reading(body: bytes, content_type: str = "text/markdown", extract: Any = no_extractor) -> Reading:
    return read_document(body, url="local:d/a", content_type=content_type, name="a", extract=extract)


def test_the_extractor_has_the_first_word() -> None:
    seen: list[Page] = []

    def extract(page: Page) -> Document:
        seen.append(page)
        return Document(url=page.url, text="# Inner\n\nBody", title=" A\n title ", published="2024-05-01")

    made = reading(b"raw", extract=extract)
    assert made == Reading(
        title="A title", text="# Inner\n\nBody", headings=("Inner",), published="2024-05-01"
    )
    assert (seen[0].body, seen[0].content_type, seen[0].url) == (b"raw", "text/markdown", "local:d/a")


def test_markdown_without_an_extractor() -> None:
    made = reading("\ufeff# Schön\n\n```\n# code\n```\n## Zwei #\nText".encode())
    assert (made.title, made.headings) == ("Schön", ("Schön", "Zwei"))


def test_html_without_an_extractor() -> None:
    made = reading(
        b"<title>T &amp; U</title><style>x{}</style><h2>Head</h2><p>one<b>two</b><script>no()</script><td>c",
        "text/html",
    )
    assert (made.title, made.headings) == ("T & U", ("Head",))
    assert made.text.splitlines() == ["## Head", "onetwo", "c"]


def test_plain_text_has_no_headings_and_the_name_as_title() -> None:
    assert reading(b"# a comment", "text/plain") == Reading(title="a", text="# a comment")


def test_wide_and_broken_encodings() -> None:
    assert reading("wide".encode("utf-16"), "text/plain").text == "wide"
    assert reading(b"caf\xe9", "text/plain").text == "caf\ufffd"


@pytest.mark.parametrize(
    ("body", "content_type", "told"),
    [
        (b"", "text/plain", "is empty"),
        (b" \n", "text/markdown", "is empty"),
        (b"\x7fELF\0\0\0", "text/plain", "binary"),
        (b"<p> </p>", "text/html", "has no text"),
        (b"%PDF-1.7", "application/pdf", "no installed extractor reads application/pdf"),
    ],
)
def test_what_holds_nothing(body: bytes, content_type: str, told: str) -> None:
    with pytest.raises(Unreadable, match=told):
        reading(body, content_type)


def test_why_an_extractor_refused_is_told() -> None:
    def encrypted(page: Page) -> None:
        raise PageError("needs a password", kind="encrypted")

    def broken(page: Page) -> None:
        raise ZeroDivisionError("oops")

    with pytest.raises(Unreadable, match="needs a password"):
        reading(b"%PDF", "application/pdf", encrypted)
    with pytest.raises(Unreadable, match="extractor failed: ZeroDivisionError: oops"):
        reading(b"%PDF", "application/pdf", broken)
    assert reading(b"text stays", "text/plain", broken).text == "text stays"


def test_headings_in_fences_are_code() -> None:
    assert headings_of("~~~~\n# a\n~~~\n# b\n~~~~\n### c ###\n#d") == ["c"]


@pytest.mark.parametrize(
    "code",
    [
        "```sh\n# no\n```",
        "~~~\n# no\n```\n# no\n~~~",
        "````md\n```\n# no\n```\n# no\n````",
        "```\n```py\n# no\n```",
        "- Run it:\n\n     ```sh\n  # no\n     ```",
        "1. ```sh\n   # no\n   ```",
    ],
)
def test_hash_marks_in_fenced_code_are_no_headings(code: str) -> None:
    assert headings_of(f"# One\n\n{code}\n\n# Two\n\n```x``` is code\n\n# Three") == ["One", "Two", "Three"]
