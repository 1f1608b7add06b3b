from __future__ import annotations

from typing import Any

import pytest

from webfetch_core.api import FetchRequest, Page, PageError, Refused


def fetch(bench: Any, url: str, **settings: Any) -> Page:
    page = bench.fetcher(**settings).fetch(FetchRequest(url=url))
    assert isinstance(page, Page)
    return page


@pytest.fixture(params=["here", "kept"])
def source(bench: Any, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Settings under which ``docs`` is served."""
    bench.write("page.html", b"<h1>caf\xe9</h1>")
    bench.write("sub/a.md", "# A")
    bench.write("code.py", "print()")
    bench.write(".hidden.md", "hidden")
    bench.write("binary.txt", b"\0\1\2")
    bench.write("big.txt", b"x" * 5_000_000)
    (bench.docs.parent / "secret.md").write_text("secret")
    (bench.docs / "out.md").symlink_to("../secret.md")
    (bench.docs / "up").symlink_to("..")
    if request.param == "here":
        return {"here": (str(bench.docs),)}
    bench.index("add", str(bench.docs))
    return {}


def test_files_come_raw(bench: Any, source: dict[str, Any]) -> None:
    page = fetch(bench, "local:docs/page.html", **source)
    assert (page.body, page.content_type, page.status) == (b"<h1>caf\xe9</h1>", "text/html", 200)
    assert page.final_url == page.url == "local:docs/page.html"
    assert page.fetched_by == "local"
    assert fetch(bench, "LOCAL:docs/sub/a.md#part", **source).content_type == "text/markdown"


@pytest.mark.parametrize(
    "url",
    [
        "local:docs/../../etc/passwd",
        "local:docs/%2e%2e/secret.md",
        "local:docs/..%2fsecret.md",
        "local:docs/sub/../page.html",
        "local:docs//page.html",
        "local:docs/./page.html",
        "local:docs//etc/passwd",
        "local:docs/out.md",
        "local:docs/up/secret.md",
        "local:docs/code.py",
        "local:docs/.hidden.md",
        "local:docs/binary.txt",
        "local:docs/big.txt",
        "local:docs/none.md",
        "local:docs/sub",
        "local:docs/page.html%00",
        "local:docs/",
        "local:docs",
        "local:",
        "local:../docs/page.html",
        "local:%2e%2e/page.html",
        "local:.locks/docs.lock",
        "local:other/page.html",
        "local://docs/../page.html",
        "local:docs/" + "a" * 5000 + ".md",
    ],
)
def test_nothing_else_is_served(bench: Any, source: dict[str, Any], url: str) -> None:
    with pytest.raises(PageError) as caught:
        fetch(bench, url, **source)
    assert caught.value.kind == "not_found"
    assert str(bench.docs) not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "/etc/passwd", "https://x.example/", "docs/page.html", ""]
)
def test_other_schemes_are_refused(bench: Any, source: dict[str, Any], url: str) -> None:
    with pytest.raises(Refused):
        fetch(bench, url, **source)


@pytest.mark.parametrize("change", ["edit", "grow", "delete", "link"])
def test_a_changed_file_gives_the_indexed_text(bench: Any, change: str) -> None:
    file = bench.write("a.md", "# As indexed")
    bench.index("add", str(bench.docs))
    if change == "edit":
        file.write_text("# Otherwise!")
    elif change == "grow":
        file.write_bytes(b"x" * 6_000_000)
    else:
        file.unlink()
    if change == "link":
        (bench.docs.parent / "secret.md").write_text("secret")
        file.symlink_to("../secret.md")
    page = fetch(bench, "local:docs/a.md")
    assert page.body == b"# As indexed"
    assert page.content_type.startswith("text/markdown")


def test_a_folder_that_becomes_a_link_out_is_not_followed(bench: Any) -> None:
    bench.write("sub/secret.md", "indexed")
    bench.index("add", str(bench.docs))
    outside = bench.docs.parent / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (bench.docs / "sub" / "secret.md").unlink()
    (bench.docs / "sub").rmdir()
    (bench.docs / "sub").symlink_to(outside)
    assert fetch(bench, "local:docs/sub/secret.md").body == b"indexed"
    with pytest.raises(PageError):
        fetch(bench, "local:docs/sub/secret.md", here=(str(bench.docs),))


def test_a_document_with_a_public_url_is_served_by_its_own_name_too(bench: Any) -> None:
    bench.write("a.md", "text")
    bench.index("add", str(bench.docs), "--base-url", "https://x.example/")
    assert fetch(bench, "local:docs/a.md").body == b"text"


def test_an_index_that_is_not_there_is_told_without_options_that_fetch_lacks(bench: Any) -> None:
    bench.write("a.md", "x")
    bench.index("add", str(bench.docs))
    with pytest.raises(PageError) as caught:
        bench.fetcher().fetch(FetchRequest(url="local:nope/a.md"))
    assert str(caught.value) == "there is no index 'nope' (the indexes are: docs)"
    assert caught.value.kind == "not_found"
