from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.api import (
    CacheError,
    ConfigError,
    Document,
    FetchRequest,
    NotConfigured,
    SearchRequest,
    TimedOut,
)

QUESTION = "how does fusion rank a page that two engines found?"


def fill(bench: Any) -> None:
    bench.write("fusion.md", "# Fusion\n\nA page that two engines found is ranked by the sum of both ranks.")
    bench.write("cache.md", "# Cache\n\nA row is kept for seven days, then found stale.")
    bench.write(
        "sub/fetch.html", "<title>Fetching</title><h1>Fetching pages</h1><p>Redirects are re-checked."
    )
    for i in range(20):
        bench.write(f"noise/{i}.txt", f"The gauge number {i} was read at noon and found to be well.")


@pytest.mark.parametrize("kept", [False, True])
def test_a_question_finds_its_page(bench: Any, kept: bool) -> None:
    fill(bench)
    if kept:
        bench.index("add", str(bench.docs))
    hits = bench.search(QUESTION, **({} if kept else {"here": (str(bench.docs),)}))
    assert hits[0].url == "local:docs/fusion.md"
    assert hits[0].title == "Fusion"
    assert "two engines" in hits[0].snippet
    assert hits[0].extra == {"index": "docs", "path": "fusion.md"}
    assert len(hits) < 5  # pages that share "found" alone are accidents


def test_stems_titles_and_file_names(bench: Any) -> None:
    fill(bench)
    here = (str(bench.docs),)
    assert bench.found("engine ranking fusions", here=here)[:1] == ["fusion.md"]
    assert bench.found("fetching", here=here) == ["sub/fetch.html"]
    assert bench.found("fetch html", here=here)[:1] == ["sub/fetch.html"]


def test_nothing_matches(bench: Any) -> None:
    fill(bench)
    assert bench.found("zymurgy", here=(str(bench.docs),)) == []
    assert bench.found("weather of Paris noon", here=(str(bench.docs),)) == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "a AND (b OR",
        "field:*",
        "+-!(){}[]^~?\\/",
        'title:"x',
        "\0",
        "🙂",
        "\ud800",
        " ",
        "x" * 5000,
        "a b " * 2000,
    ],
)
def test_no_query_raises(bench: Any, query: str) -> None:
    fill(bench)
    assert isinstance(bench.search(query, here=(str(bench.docs),)), list)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("東京都の人口は約千四百万人です。", "東京の人口"),
        ("吾輩は黒猫である。", "猫"),
        ("서울의 인구는 구백만 명이다.", "서울 인구"),
        ("กรุงเทพมหานครเป็นเมืองหลวง", "เมืองหลวง"),
        ("عاصمة مِصر هي القاهرة", "عاصمة مصر"),
        ("ירושלים היא עיר הבירה", "עיר הבירה"),
        ("Die Straße nach Zürich", "strasse zurich"),
        ("दिल्ली भारत की राजधानी है", "भारत की राजधानी"),
    ],
)
def test_many_scripts(bench: Any, text: str, query: str) -> None:
    fill(bench)
    bench.write("it.md", text)
    hits = bench.search(query, here=(str(bench.docs),))
    assert [hit.extra["path"] for hit in hits] == ["it.md"]
    assert hits[0].snippet == text


@pytest.mark.parametrize(
    "name", ["a b.md", "a#b?.md", "100%.md", "ümläut 文.md", "new\nline.md", b"caf\xe9.md"]
)
def test_odd_names_come_back(bench: Any, name: Any) -> None:
    path = name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name
    bench.write(path, "zymurgy")
    bench.index("add", str(bench.docs))
    for settings in ({}, {"here": (str(bench.docs),)}):
        (hit,) = bench.search("zymurgy", **settings)
        assert hit.extra["path"] == path
        assert hit.url.isascii()
        page = bench.fetcher(**settings).fetch(FetchRequest(url=hit.url))
        assert page.body == b"zymurgy"


def test_limit(bench: Any) -> None:
    fill(bench)
    assert len(bench.search("gauge noon", limit=7, here=(str(bench.docs),))) == 7
    assert bench.search("gauge noon", limit=0, here=(str(bench.docs),)) == []


def test_public_urls_and_domains(bench: Any) -> None:
    fill(bench)
    maps = bench.docs.parent / "map.jsonl"
    maps.write_text('{"path": "noise/3.txt", "url": "https://gauges.example/three"}\n')
    bench.index("add", str(bench.docs), "--base-url", "https://docs.example/v1", "--url-map", str(maps))
    hits = bench.search("gauge number", limit=30)
    assert {hit.url for hit in hits} == {
        "https://gauges.example/three" if i == 3 else f"https://docs.example/v1/noise/{i}.txt"
        for i in range(20)
    }
    engine = bench.engine()
    only = engine.search(SearchRequest(query="gauge number", include_domains=("gauges.example",)))
    assert [hit.url for hit in only] == ["https://gauges.example/three"]
    rest = engine.search(SearchRequest(query="gauge number", limit=30, exclude_domains=("gauges.example",)))
    assert len(rest) == 19


def test_asked_domains_leave_out_files_without_one(bench: Any) -> None:
    fill(bench)
    engine = bench.engine(here=(str(bench.docs),))
    assert engine.search(SearchRequest(query="fusion", include_domains=("docs.example",))) == []
    assert engine.search(SearchRequest(query="fusion", exclude_domains=("docs.example",)))


def test_two_files_of_one_public_page_are_one_hit(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.write("b.md", "zymurgy")
    maps = bench.docs.parent / "map.jsonl"
    maps.write_text("".join(f'{{"path": "{p}.md", "url": "https://x.example/"}}\n' for p in "ab"))
    bench.index("add", str(bench.docs), "--url-map", str(maps))
    assert [hit.url for hit in bench.search("zymurgy")] == ["https://x.example/"]


def test_a_small_index_is_not_drowned_by_a_large_one(bench: Any, tmp_path: Path) -> None:
    fill(bench)
    bench.index("add", str(bench.docs))
    small = tmp_path / "small"
    small.mkdir()
    (small / "only.md").write_text((bench.docs / "fusion.md").read_text())
    hits = bench.search(QUESTION, here=(str(small),))
    assert {hit.url for hit in hits} == {"local:small/only.md", "local:docs/fusion.md"}
    assert hits[0].score < 1.7 * hits[1].score  # by its own frequencies it would be ten times less


def test_named_indexes_alone_are_searched(bench: Any, tmp_path: Path) -> None:
    fill(bench)
    bench.index("add", str(bench.docs))
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("fusion")
    bench.index("add", str(other))
    assert {hit.extra["index"] for hit in bench.search("fusion")} == {"docs", "other"}
    assert {hit.extra["index"] for hit in bench.search("fusion", indexes=("other",))} == {"other"}
    with pytest.raises(ConfigError, match=r"no index 'nope'.*docs, other"):
        bench.engine(indexes=("nope",))


def test_here_takes_the_place_of_its_kept_index(bench: Any, tmp_path: Path) -> None:
    bench.write("a.md", "zymurgy old")
    bench.index("add", str(bench.docs))
    bench.write("a.md", "zymurgy new")
    assert [hit.snippet for hit in bench.search("zymurgy", here=(str(bench.docs),))] == ["zymurgy new"]
    namesake = tmp_path / "elsewhere" / "docs"
    namesake.mkdir(parents=True)
    (namesake / "b.md").write_text("zymurgy too")
    assert bench.found("zymurgy", here=(str(namesake),)) == ["b.md"]


def test_here_folders_of_one_name_are_numbered(bench: Any, tmp_path: Path) -> None:
    bench.write("a.md", "zymurgy")
    namesake = tmp_path / "elsewhere" / "docs"
    namesake.mkdir(parents=True)
    (namesake / "b.md").write_text("zymurgy")
    hits = bench.search("zymurgy", here=(str(bench.docs), str(namesake), str(bench.docs) + "/."))
    assert sorted(hit.url for hit in hits) == ["local:docs-2/b.md", "local:docs/a.md"]


def test_nothing_indexed_is_off_with_the_fix(bench: Any) -> None:
    for make, fix in (
        (bench.engine, "run `webfetch index add PATH` or pass --here PATH$"),
        (bench.fetcher, "run `webfetch index add PATH`$"),
    ):
        with pytest.raises(NotConfigured, match=fix):
            make()


def test_here_that_is_no_folder_is_a_wrong_setting(bench: Any) -> None:
    file = bench.write("a.md", "x")
    for path, told in ((str(file), "is not a folder"), (str(bench.docs / "none"), "does not exist")):
        for make in (bench.engine, bench.fetcher):
            with pytest.raises(ConfigError, match=told):
                make(here=(path,))


def test_an_empty_folder_finds_nothing(bench: Any) -> None:
    assert bench.search("anything", here=(str(bench.docs),)) == []
    assert "nothing was found to index" in bench.index("add", str(bench.docs))
    assert bench.search("anything") == []


def test_a_home_that_cannot_be_made_leaves_here_working(bench: Any) -> None:
    fill(bench)
    bench.context.home.write_text("a file stands where the folder should be")
    assert bench.found(QUESTION, here=(str(bench.docs),))[0] == "fusion.md"
    assert bench.fetcher(here=(str(bench.docs),)).fetch(FetchRequest(url="local:docs/cache.md")).body
    with pytest.raises(NotConfigured, match="cannot be used"):
        bench.engine()
    with pytest.raises(CacheError, match="cannot be used"):
        bench.index("add", str(bench.docs))


def test_a_deadline_ends_reading_in_and_the_next_search_goes_on(bench: Any) -> None:
    for i in range(10):
        bench.write(f"{i}.md", "zymurgy")

    def slow(page: Any) -> Document:
        bench.context.clock.added += 1.0
        return Document(url=page.url, text=page.body.decode())

    bench.context.extract = slow
    engine = bench.engine(here=(str(bench.docs),))
    now = bench.context.clock.monotonic()
    assert 3 <= len(engine.search(SearchRequest(query="zymurgy", deadline=now + 4.0))) <= 5
    now = bench.context.clock.monotonic()
    with pytest.raises(TimedOut, match="files of docs"):
        engine.search(SearchRequest(query="absent", deadline=now + 2.0))
    engine.warm_up()
    assert len(engine.search(SearchRequest(query="zymurgy"))) == 10
    assert engine.search(SearchRequest(query="absent")) == []


def test_searches_at_once_agree(bench: Any) -> None:
    fill(bench)
    bench.index("add", str(bench.docs))
    engine = bench.engine(here=(str(bench.write("x/y.md", "zymurgy").parent),))
    results: list[Any] = []
    start = threading.Barrier(8)

    def work() -> None:
        start.wait()
        for _ in range(5):
            results.append([hit.url for hit in engine.search(SearchRequest(query=QUESTION))])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 40
    assert all(urls == results[0] and urls for urls in results)


def test_a_new_commit_is_seen_by_an_open_engine(bench: Any) -> None:
    bench.write("a.md", "zymurgy")
    bench.index("add", str(bench.docs))
    engine = bench.engine()
    request = SearchRequest(query="zymurgy")
    assert len(engine.search(request)) == 1
    bench.write("b.md", "zymurgy")
    bench.index("refresh")
    assert len(engine.search(request)) == 2
    bench.index("remove", "docs")
    assert engine.search(request) == []
    bench.write("c.md", "zymurgy")
    bench.index("add", str(bench.docs))
    assert len(engine.search(request)) == 3


@pytest.mark.parametrize("kept", [False, True])
def test_the_fingerprint_follows_the_files(bench: Any, kept: bool) -> None:
    fill(bench)

    def fingerprint() -> str:
        if kept:
            bench.index("refresh")
            return str(bench.engine().fingerprint())
        return str(bench.engine(here=(str(bench.docs),)).fingerprint())

    if kept:
        bench.index("add", str(bench.docs))
    first = fingerprint()
    if not kept:
        assert fingerprint() == first
    bench.write("buoys.md", "# Buoys\n\nA buoy marks the channel.")
    second = fingerprint()
    bench.write("fusion.md", "# Fusion\n\nNothing about it any more.")
    assert len({first, second, fingerprint()}) == 3


def test_the_fingerprint_of_a_kept_index_stays_until_it_is_refreshed(bench: Any) -> None:
    fill(bench)
    bench.index("add", str(bench.docs))
    first = bench.engine().fingerprint()
    bench.write("buoys.md", "# Buoys\n\nA buoy marks the channel.")
    assert bench.engine().fingerprint() == first
    assert len(first) == 16
