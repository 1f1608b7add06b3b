"""The Brave Search API: ``/res/v1/web/search``.

Refusals are an envelope with a code: a wrong key is 422, like a bad parameter. Rate headers with two
tiers, the second's and the month's, are on every answer.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

from .base import (
    ENGINE_FAULTS,
    EngineSimulator,
    RateState,
    Received,
    Reply,
    SimulatedHit,
    SimulatedQuery,
    instant,
    json_reply,
    query_fields,
    split_sites,
    whole,
)

MAX_QUERY_CHARS, MAX_QUERY_WORDS, MAX_OFFSET = 400, 50, 9

_COUNTRIES = """
ALL AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE TR TW
US ZA
"""
_LANGUAGES = """
ar bg bn ca cs da de en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl pa pl
pt-br pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
"""
COUNTRIES = frozenset(_COUNTRIES.split())
LANGUAGES = frozenset(_LANGUAGES.split())
_TIME = {"pd": "day", "pw": "week", "pm": "month", "py": "year"}
_RANGE = re.compile(r"(\d{4}-\d\d-\d\d)to(\d{4}-\d\d-\d\d)\Z")
_METERED_PER_S = 50  # what an account without a limit of its own is told


class BraveSimulator(EngineSimulator):
    """Brave.

    Attributes:
        plan_has_extra_snippets: whether ``extra_snippets`` is answered or refused.
        reply_tiers: False leaves the rate headers out, as a gateway may.
    """

    name = "brave"
    routes = ("/res/v1/web/search",)
    base_path = "/res/v1"
    key_env = "BRAVE_API_KEY"
    max_limit = 20
    default_limit = 20
    results_at: ClassVar[tuple[str, ...]] = ("web", "results")
    faults = (*ENGINE_FAULTS, "payment_required", "option_not_in_plan", "error_in_200")

    plan_has_extra_snippets = True
    reply_tiers = True

    def parse_request(self, received: Received) -> SimulatedQuery:
        """The fields of the URL's query; the key is in ``X-Subscription-Token``."""
        sent = query_fields(received)
        words, include, exclude = split_sites(sent.get("q", ""))
        time = sent.get("freshness", "")
        span = _RANGE.match(time)
        return SimulatedQuery(
            query=words,
            limit=whole(sent.get("count")),
            freshness=_TIME.get(time, ""),
            after=instant(span[1]) if span else None,
            before=instant(f"{span[2]}T23:59:59") if span else None,
            include=include,
            exclude=exclude,
            # The country is where results are weighted, the language what they are filtered by.
            language=_iso_language(sent.get("search_lang", "")),
            country=sent.get("country", ""),
            key=received.headers.get("x-subscription-token", "").strip(),
            params=sent,
        )

    def validate(self, query: SimulatedQuery) -> Reply | None:
        """422 for what a closed list or a bound does not allow."""
        sent = query.params
        text = str(sent.get("q", ""))
        count, offset = sent.get("count", "20"), sent.get("offset", "0")
        wrong = {
            "q": not 1 <= len(text) <= MAX_QUERY_CHARS or len(text.split()) > MAX_QUERY_WORDS,
            "count": not 1 <= (whole(count) or 0) <= self.max_limit,
            "offset": not 0 <= (-1 if (at := whole(offset)) is None else at) <= MAX_OFFSET,
            "country": sent.get("country", "ALL").upper() not in COUNTRIES,
            "search_lang": sent.get("search_lang", "en") not in LANGUAGES,
            "safesearch": sent.get("safesearch", "off") not in ("off", "moderate", "strict"),
            "freshness": "freshness" in sent
            and sent["freshness"] not in _TIME
            and not _RANGE.match(sent["freshness"]),
        }
        if fields := [name for name, is_wrong in wrong.items() if is_wrong]:
            return _invalid([("query", name, sent.get(name)) for name in fields])
        if sent.get("extra_snippets") == "true" and not self.plan_has_extra_snippets:
            return self.fault_reply("option_not_in_plan", query)
        return None

    def hits_reply(self, hits: Sequence[SimulatedHit], query: SimulatedQuery) -> Reply:
        """The whole reply; ``web`` is absent when nothing was found."""
        asked = str(query.params.get("q", ""))
        data: dict[str, Any] = {
            "type": "search",
            "query": {
                "original": asked,
                "show_strict_warning": False,
                "is_navigational": False,
                "country": query.country.lower() or "us",
                "bad_results": False,
                "more_results_available": len(hits) >= self.max_limit,
            },
            "mixed": {
                "type": "mixed",
                "main": [{"type": "web", "index": n, "all": False} for n in range(len(hits))],
                "top": [],
                "side": [],
            },
        }
        if hits:
            results = [_result(hit, query) for hit in hits]
            data["web"] = {"type": "search", "results": results, "family_friendly": True}
        return json_reply(data)

    def fault_reply(self, kind: str, query: SimulatedQuery) -> Reply:
        """The faults, each with its code."""
        if kind in ("empty", "silent_block"):
            return self.hits_reply([], query)
        if kind == "auth" and not query.key:
            return _invalid([("header", "x-subscription-token", None)], "Field required")
        if kind == "bad_query":
            return _invalid([("query", "q", query.params.get("q"))])
        return _refused(*_FAULTS[kind])

    def rate_headers(self, state: RateState) -> Mapping[str, str]:
        """Two tiers, the second's and the month's; a limit of 0 is no limit."""
        if not self.reply_tiers:
            return {}
        limit, left = (
            (_METERED_PER_S, _METERED_PER_S - 1) if state.limit is None else (state.limit, state.remaining)
        )
        quota = state.quota or 0
        month = round(state.quota_reset_s) if quota else 0
        return {
            "X-RateLimit-Limit": f"{limit}, {quota}",
            "X-RateLimit-Policy": f"{limit};w={state.window_s:.0f}, {quota};w=2592000",
            "X-RateLimit-Remaining": f"{left}, {state.quota_remaining}",
            "X-RateLimit-Reset": f"{max(1, round(state.reset_s))}, {month}",
        }


_PLAN = {"plan": "Free", "rate_limit": 1, "rate_current": 1, "quota_limit": 2000, "component": "rate_limiter"}
_FAULTS: Mapping[str, tuple[int, str, str, Mapping[str, Any]]] = {
    "auth": (
        422,
        "SUBSCRIPTION_TOKEN_INVALID",
        "The provided subscription token is invalid.",
        {"component": "authentication"},
    ),
    "quota": (
        429,
        "QUOTA_LIMITED",
        "Request quota limit exceeded for plan",
        {**_PLAN, "quota_current": 2000},
    ),
    "rate_limited": (
        429,
        "RATE_LIMITED",
        "Request rate limit exceeded for plan",
        {**_PLAN, "quota_current": 15},
    ),
    "payment_required": (402, "PAYMENT_REQUIRED", "The account's spend limit is reached.", {}),
    "option_not_in_plan": (
        400,
        "OPTION_NOT_IN_PLAN",
        "The option extra_snippets is not available in your plan.",
        {},
    ),
    "server_error": (500, "INTERNAL", "Internal server error", {}),
    "error_in_200": (200, "QUOTA_LIMITED", "Request quota limit exceeded for plan", {}),
}


def _refused(status: int, code: str, detail: str, meta: Mapping[str, Any]) -> Reply:
    error = {
        "id": "5d832250-9396-4f6e-b84a-2a1fe524cd7d",
        "status": status,
        "code": code,
        "detail": detail,
        "meta": dict(meta),
    }
    return json_reply({"type": "ErrorResponse", "error": error, "time": 1_773_685_964}, status)


def _invalid(places: Sequence[tuple[str, str, Any]], message: str = "Input is not valid") -> Reply:
    errors = [
        {"type": "value_error", "loc": [where, name], "msg": message, "input": given}
        for where, name, given in places
    ]
    return _refused(422, "VALIDATION", "Unable to validate request parameter(s)", {"errors": errors})


def _result(hit: SimulatedHit, query: SimulatedQuery) -> dict[str, Any]:
    host = urlsplit(hit.url).netloc
    decorated = query.params.get("text_decorations", "true") == "true"
    row: dict[str, Any] = {
        "type": "search_result",
        "subtype": "generic",
        "title": html.escape(hit.title),
        "url": hit.url,
        "is_source_local": False,
        "is_source_both": False,
        "description": _decorated(hit.snippet, query.query) if decorated else html.escape(hit.snippet),
        "profile": {"name": host, "long_name": host, "url": hit.url, "img": f"https://{host}/icon"},
        "language": "en",
        "family_friendly": True,
        "meta_url": {"scheme": urlsplit(hit.url).scheme, "netloc": host, "hostname": host, "path": ""},
    }
    if moment := instant(hit.published) if hit.published else None:
        row["page_age"] = moment.strftime("%Y-%m-%dT%H:%M:%S")
        row["age"] = f"{moment:%B} {moment.day}, {moment.year}"
    if query.params.get("extra_snippets") == "true":
        sentences = re.split(r"(?<=[.!?])\s+", " ".join(hit.text.split()))
        row["extra_snippets"] = [html.escape(s) for s in sentences if s and s not in hit.snippet][:5]
    return row


def _decorated(text: str, query: str) -> str:
    """``text`` with the query's words in ``<strong>``."""
    words = [re.escape(word) for word in dict.fromkeys(re.findall(r"\w+", query))]
    if not words:
        return html.escape(text)
    pieces = re.split(rf"(?i)\b({'|'.join(words)})\b", text)
    return "".join(
        f"<strong>{html.escape(piece)}</strong>" if at % 2 else html.escape(piece)
        for at, piece in enumerate(pieces)
    )


def _iso_language(code: str) -> str:
    """The ISO 639-1 part of a ``search_lang``."""
    return "ja" if code == "jp" else code.partition("-")[0]
