"""Two things in Jina's shape: ``POST /v1/rerank`` and the reader, ``GET /r/<url>``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from webfetch_core import Document
from webfetch_core.api import Scored

from .faults import bad_request
from .given import Given, mended
from .reading import read_page
from .replies import JsonReply, TextReply
from .serving import Serving, json_of

MAX_DOCUMENTS = 1_000
CHARS_PER_TOKEN = 4


async def rerank(serving: Serving, request: Request) -> Response:
    """``POST /v1/rerank``: ``{"model", "query", "documents", "top_n", "return_documents"}``."""
    given = await json_of(request)
    query, documents = given.needed("query"), _documents(given.any("documents"))
    most = given.whole("top_n", len(documents), 0, len(documents))
    ranked: list[Scored] = await serving.desk.run(
        lambda _: serving.wf.rank(query, documents), serving.search_s()
    )
    keep = given.any("return_documents") is None or given.flag("return_documents")
    results: list[dict[str, Any]] = []
    for scored in ranked[:most]:
        told: dict[str, Any] = {"index": scored.index, "relevance_score": _share(scored.score)}
        if keep:
            told["document"] = {"text": documents[scored.index]}
        results.append(told)
    tokens = (len(query) + sum(map(len, documents))) // CHARS_PER_TOKEN
    return JsonReply(
        {
            "model": given.text("model") or "webfetch",
            "object": "list",
            "usage": {"total_tokens": tokens},
            "results": results,
        }
    )


def _share(score: float) -> float:
    """A score of any scale in (0, 1), in the same order."""
    if not math.isfinite(score):
        return 0.0
    return round(1.0 / (1.0 + math.exp(-max(min(score, 60.0), -60.0))), 6)


def _documents(value: Any) -> list[str]:
    """Texts, each bare or as an object with its ``text``."""
    if not isinstance(value, list) or not value:
        raise bad_request("documents must be a list of texts")
    if len(value) > MAX_DOCUMENTS:
        raise bad_request(f"at most {MAX_DOCUMENTS} documents can be ranked at once")
    texts = [one.get("text") if isinstance(one, Mapping) else one for one in value]
    if not all(isinstance(text, str) for text in texts):
        raise bad_request("documents must be a list of texts")
    return [mended(str(text)) for text in texts]


async def read(serving: Serving, request: Request) -> Response:
    """``GET /r/<url>``, the URL as it is, with its query string; or ``POST /r`` with ``{"url"}``."""
    if request.method == "POST":
        kind, body = request.headers.get("content-type", ""), await request.body()
        as_json = "json" in kind or body.lstrip().startswith(b"{")  # whatever curl says of it
        url = (Given.of_json(body) if as_json else Given.of_form(body, kind)).needed("url")
    else:
        url = _url_in(request)
    headers = request.headers
    document = await read_page(
        serving,
        url,
        _number(headers.get("x-timeout", "")),
        force_fresh=headers.get("x-no-cache", "").lower() == "true"
        or headers.get("x-cache-tolerance", "").strip() == "0",
    )
    tokens = _number(headers.get("x-max-tokens", "")) or _number(headers.get("x-token-budget", ""))
    text = document.text
    if tokens is not None and len(text) > tokens * CHARS_PER_TOKEN:
        text = text[: max(int(tokens), 1) * CHARS_PER_TOKEN]
    if "application/json" in headers.get("accept", ""):
        return JsonReply(_envelope(document, text))
    return TextReply(_page(document, text))


def _url_in(request: Request) -> str:
    """The URL behind ``/r/``. Taken from the request line: a router would fold its slashes and undo its
    percent signs."""
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
    url = raw.partition(b"/r/")[2]
    if query := request.scope.get("query_string", b""):
        url += b"?" + query
    if not url:
        raise bad_request("there is no URL behind /r/", fix="as in /r/https://example.org/")
    return url.decode("utf-8", "replace")


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and number > 0 else None


def _page(document: Document, text: str) -> str:
    lines = [f"Title: {_line(document.title)}", "", f"URL Source: {_line(document.url)}", ""]
    if document.published:
        lines += [f"Published Time: {_line(document.published)}", ""]
    if document.flags:
        lines += [f"Warning: {_line(', '.join(document.flags))}", ""]
    return "\n".join([*lines, "Markdown Content:", text])


def _line(text: str) -> str:
    return " ".join(text.split())


def _envelope(document: Document, text: str) -> dict[str, Any]:
    usage = {"tokens": len(text) // CHARS_PER_TOKEN}
    data: dict[str, Any] = {
        "title": document.title,
        "description": document.metadata.get("description", ""),
        "url": document.url,
        "content": text,
        "metadata": dict(document.metadata),
        "external": {},
        "usage": usage,
    }
    if document.published:
        data["publishedTime"] = document.published
    if document.flags:
        data["warning"] = ", ".join(document.flags)
    return {"code": 200, "status": 20000, "data": data, "meta": {"usage": usage}}
