"""What --explain tells, whatever it is printed on."""

from __future__ import annotations

import pytest

from webfetch_core.cli.explain import explain_fetch, explain_search
from webfetch_core.models import Attempt, Document, FailedUrl, SearchHit, SearchResult, Span

REASON = (
    "the address is in a private network, which pages and models may not reach; "
    "allow_hosts in the settings names the hosts that may be reached all the same"
)
URL = "https://intranet.example.org/a/long/path/to/a/page/that/nobody/reads/in/one/go.html"


def flat(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def result() -> SearchResult:
    attempts = (
        Attempt(stage="search", provider="alpha", outcome="ok", count=1, elapsed_s=0.1),
        Attempt(stage="search", provider="beta", outcome="rate_limited", reason="slow down. " + REASON),
        Attempt(stage="fetch", provider="http", outcome="refused", reason=REASON, target=URL),
    )
    return SearchResult(
        query="q",
        hits=(SearchHit(url=URL, rank=1, engine="alpha"), SearchHit(url="https://b.example/", rank=2)),
        attempts=attempts,
        failed_urls=(FailedUrl(url=URL, kind="refused", reason=REASON),),
        trace=(Span(stage="fetch", name="http", start_s=0.0, end_s=0.2, note=f"refused {REASON} {URL}"),),
        notes=(),
    )


@pytest.mark.parametrize("width", [40, 60, 100, 160])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_reason_is_cut(width: int, unicode: bool) -> None:
    lines = explain_search(result(), (), width, unicode=unicode)
    told = flat(lines)
    assert told.count(REASON) == 3  # the engine's, the page's, and the bar's
    assert "slow down" in told and "refused" in told
    row = next(n for n, line in enumerate(lines) if " beta " in line or line.strip().startswith("beta"))
    assert lines[row + 1].startswith("      slow down.")
    words = max(map(len, REASON.split()))
    assert all(len(line) <= width for line in lines if line.startswith("      ") and len(line) > words + 6)


def test_a_row_without_a_reason_has_nothing_below_it() -> None:
    lines = explain_search(result(), (), 100)
    row = next(n for n, line in enumerate(lines) if line.strip().startswith("alpha"))
    assert lines[row + 1].strip().startswith("beta")


@pytest.mark.parametrize("width", [40, 100])
def test_no_reason_of_a_fetch_is_cut(width: int) -> None:
    attempts = [Attempt(stage="fetch", provider="http", outcome="refused", reason=REASON, target=URL)]
    told = flat(explain_fetch(URL, attempts, None, width))
    assert told == f"attempts for {URL} STAGE BY TIME OUTCOME fetch http 0.0 ms refused {REASON}"


def test_the_facts_of_a_document_are_whole() -> None:
    document = Document(url=URL, text="x", title="A title " * 12, flags=("truncated",))
    told = flat(explain_fetch(URL, [], document, 40))
    assert ("A title " * 12).strip() in told and "page cache" in told and URL in told


def test_a_reason_cannot_act_on_a_terminal() -> None:
    attempts = [Attempt(stage="fetch", provider="http", outcome="refused", reason="a\x1b[31m\nb")]
    assert r"a\x1b[31m b" in flat(explain_fetch(URL, attempts, None, 100))
