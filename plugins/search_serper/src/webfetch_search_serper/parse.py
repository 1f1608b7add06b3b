"""From the JSON of ``/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from attrs import evolve

from webfetch_core.api import BadResponse, SearchHit, plain_text, result_rows, rows, text_at, web_url

from .dates import iso_date

_PARTS = frozenset(
    {
        "searchParameters",
        "organic",
        "answerBox",
        "knowledgeGraph",
        "topStories",
        "peopleAlsoAsk",
        "relatedSearches",
    }
)


def parse(data: Any, *, now: datetime) -> list[SearchHit]:
    """Return the hits: the featured snippet's page, the organic results, the top stories.

    The first hit's ``extra`` holds Google's direct answer where that has no page (``answer``) and
    its panel about the subject (``knowledge_graph``). Advertisements, questions that others ask
    and related searches are left out.

    Args:
        now: what relative dates are counted from.

    Raises:
        BadResponse: it is no search reply, or none of its results has a URL.
    """
    if not isinstance(data, Mapping) or not _PARTS & data.keys():
        raise BadResponse("Serper's answer is no search reply: it has no organic results")
    answer = answer_of(data)
    found = _distinct(_hits(data, answer, now))
    if not found and "organic" in data:  # it is left out where there is none
        result_rows(data, "organic", service="Serper", url_fields=("link",))
    beside: dict[str, Any] = {} if found and found[0].extra.get("place") == "answer_box" else dict(answer)
    if panel := _panel(data):
        beside["knowledge_graph"] = panel
    if found and beside:
        found[0] = evolve(found[0], extra={**found[0].extra, **beside})
    return found


def answer_of(data: Mapping[str, Any]) -> dict[str, str]:
    """Google's direct answer, as ``{"answer": text}``; empty when there is none."""
    text = text_at(data, "answerBox", "answer") or text_at(data, "answerBox", "snippet")
    if not text:
        box = data.get("answerBox")
        marked = box.get("snippetHighlighted") if isinstance(box, Mapping) else None
        text = " ".join(filter(None, map(plain_text, marked if isinstance(marked, list) else [marked])))
    return {"answer": text} if text else {}


def _hits(data: Mapping[str, Any], answer: Mapping[str, str], now: datetime) -> Iterator[SearchHit]:
    box = data.get("answerBox")
    if isinstance(box, Mapping) and (hit := _hit(box, now, "answer_box")):
        text = text_at(box, "snippet") or answer.get("answer", "")
        yield evolve(hit, snippet=text, extra={**hit.extra, **answer})
    for place, name in (("", "organic"), ("top_stories", "topStories")):
        for row in rows(data, name):
            if hit := _hit(row, now, place):
                yield hit


def _hit(row: Mapping[str, Any], now: datetime, place: str) -> SearchHit | None:
    url = web_url(row.get("link"))
    if not url:
        return None
    shown = text_at(row, "date")
    published = iso_date(shown, now)
    extra = {"place": place, "date": "" if published else shown, "source": text_at(row, "source")}
    return SearchHit(
        url=url,
        title=text_at(row, "title"),
        snippet=text_at(row, "snippet"),
        published=published,
        extra={name: value for name, value in extra.items() if value},
    )


def _distinct(hits: Iterator[SearchHit]) -> list[SearchHit]:
    """Each page once, where it stands first: a featured snippet's page may be an organic one too."""
    by_url: dict[str, SearchHit] = {}
    for hit in hits:
        by_url.setdefault(hit.url, hit)
    return list(by_url.values())


def _panel(data: Mapping[str, Any]) -> dict[str, str]:
    panel = data.get("knowledgeGraph")
    if not isinstance(panel, Mapping):
        return {}
    known = {name: text_at(panel, name) for name in ("title", "type", "description")}
    known["website"] = web_url(panel.get("website"))
    return {name: value for name, value in known.items() if value}
