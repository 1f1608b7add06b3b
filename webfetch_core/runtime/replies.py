"""Checking what providers return, before anything else sees it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from attrs import evolve

from ..errors import ContractViolation
from ..models import (
    Chunk,
    Document,
    Embeddings,
    ExtractionStep,
    FileLink,
    Match,
    Page,
    SearchHit,
    SearchRequest,
)

MAX_URL_CHARS = 8_192
MAX_TEXT_CHARS = 20_000
"""Longest title or snippet that is kept whole."""
MAX_DATE_CHARS = 40
MAX_REASON_CHARS = 300
MAX_LINKS = 2_000
MAX_DOCUMENT_CHARS = 2_000_000
"""A longer text is cut and flagged ``truncated``: it would be chunked for seconds, and all other work
would wait for the interpreter meanwhile."""
MAX_METADATA = 200
MAX_SCORE = 1e100  # the squares of many, added up, are still finite
MAX_EXTRA_CHARS = 100_000
"""What an engine's extras may come to, as JSON, each."""

# Unicode tag characters and bidi overrides carry text that a reader cannot see (CVE-2021-42574).
_INVISIBLE = re.compile("[\U000e0000-\U000e007f\u202a-\u202e\u2066-\u2069\u200b\u2060\ufeff]")


# Blanks of any kind (U+2028 would begin a line of its own), controls, halves of a character.
_UNUSABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_HALVES = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    """``text`` without characters that only a machine would read, and with U+FFFD for lone surrogates,
    which can be neither encoded nor shown."""
    return _HALVES.sub("\ufffd", _INVISIBLE.sub("", text))


def plain(text: Any) -> str:
    """``text`` as a ``str`` proper that can be encoded; empty for anything but a string. What a subclass
    overrides would run later, in a thread of ours and outside of every limit."""
    if not isinstance(text, str):
        return ""
    exact = str.__str__(text)
    try:
        exact.encode()
    except UnicodeEncodeError:
        return _HALVES.sub("\ufffd", exact)
    return exact


def listed(value: Any, what: str, limit: int) -> list[Any]:
    """``value`` as a list of at most ``limit`` items; strings, mappings and scalars are refused."""
    if isinstance(value, (str, bytes, dict)) or not isinstance(value, Iterable):
        raise ContractViolation(f"returned {type(value).__name__} where a list of {what} belongs")
    return list(islice(value, limit))


def check_hits(
    value: Any, request: SearchRequest, engine: str, schemes: Sequence[str] = ()
) -> tuple[SearchHit, ...]:
    """Number and stamp an engine's hits; ones without a usable URL are dropped.

    Args:
        schemes: what the engine's plugin can fetch itself beside http and https.

    Raises:
        ContractViolation: not hits at all, or none of them usable.
    """
    rows = listed(value, "SearchHit", max(request.limit, 1) * 5)
    good: list[SearchHit] = []
    seen: set[str] = set()
    for row in rows:
        if not isinstance(row, SearchHit):
            raise ContractViolation(f"returned a {type(row).__name__} where a SearchHit belongs")
        url = str.__str__(row.url) if isinstance(row.url, str) else ""
        if not usable_url(url, ("http", "https", *schemes)) or url in seen:
            continue
        seen.add(url)
        good.append(
            SearchHit(
                url=url,
                title=_text(row.title),
                snippet=_text(row.snippet),
                published=_text(row.published)[:MAX_DATE_CHARS] or None,
                extra=_as_json(row.extra),
                score=_number(row.score),
                rank=len(good) + 1,
                engine=engine,
                engines={engine: len(good) + 1},
            )
        )
        if len(good) == request.limit:
            break
    if rows and not good:
        raise ContractViolation(f"none of its {len(rows)} hits has a usable URL")
    return tuple(good)


def usable_url(url: Any, schemes: Sequence[str]) -> bool:
    """Whether ``url`` is an absolute URL of one of ``schemes`` that could be fetched at all."""
    if not isinstance(url, str) or not url or len(url) > MAX_URL_CHARS:
        return False
    if _UNUSABLE.search(url):
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in schemes and bool(
            parts.hostname if parts.scheme.startswith("http") else parts.path
        )
    except ValueError:
        return False


def _as_json(value: Any) -> dict[str, Any]:
    """What JSON can hold of an engine's extras: they go into cache rows and ``--json`` as they are."""
    if not isinstance(value, Mapping):
        return {}
    kept = {}
    for name, item in value.items():
        with suppress(TypeError, ValueError, RecursionError):
            written = json.dumps(item, allow_nan=False, ensure_ascii=False)
            if len(written) <= MAX_EXTRA_CHARS:
                # Read back: what is kept is of JSON's own types, and shares nothing with the plugin.
                kept[plain(name)] = json.loads(plain(written))
    return kept


def _text(value: Any) -> str:
    return visible(plain(value)[: 2 * MAX_TEXT_CHARS])[:MAX_TEXT_CHARS]


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) else 0.0


def check_page(value: Any) -> Page:
    """Raises ContractViolation unless ``value`` is a Page with bytes in it and text in its other fields."""
    if not isinstance(value, Page) or not isinstance(value.body, bytes):
        raise ContractViolation(f"returned {type(value).__name__} where a Page with a bytes body belongs")
    for name in ("url", "final_url", "content_type", "fetched_by"):
        if not isinstance(getattr(value, name), str):
            raise ContractViolation(f"returned a Page whose {name} is {getattr(value, name)!r:.80}, not text")
    if not isinstance(value.headers, Mapping):
        raise ContractViolation(f"returned a Page whose headers are a {type(value.headers).__name__}")
    if isinstance(value.status, bool) or not isinstance(value.status, int):
        raise ContractViolation(f"returned a Page whose status is {value.status!r:.80}")
    return Page(
        url=plain(value.url),
        final_url=plain(value.final_url),
        content_type=plain(value.content_type),
        fetched_by=plain(value.fetched_by),
        headers={plain(k): plain(v) for k, v in value.headers.items() if isinstance(v, str)},
        body=value.body if type(value.body) is bytes else bytes.__add__(value.body, b""),
        status=int(value.status),
        elapsed_s=_number(value.elapsed_s),
        redirects=int(_number(value.redirects)),
        flags=tuple(_told(x) for x in listed(value.flags, "flags", MAX_LINKS)),
    )


def check_document(value: Any) -> Document | None:
    """Raises ContractViolation unless ``value`` is a Document or None; blank ones count as None, and
    fields beside the text that hold anything else than they should are mended."""
    if value is None:
        return None
    if not isinstance(value, Document) or not isinstance(value.text, str):
        raise ContractViolation(f"returned {type(value).__name__} where a Document belongs")
    text = plain(value.text)
    flags = tuple(_told(x) for x in listed(value.flags, "flags", MAX_LINKS))
    if len(text) > MAX_DOCUMENT_CHARS:
        text, flags = text[:MAX_DOCUMENT_CHARS], tuple(dict.fromkeys((*flags, "truncated")))
    if not text.strip():
        return None
    metadata = value.metadata if isinstance(value.metadata, Mapping) else {}
    return Document(
        url=plain(value.url),
        text=text,
        title=_text(value.title),
        page_type=_text(value.page_type),
        metadata={_told(k): _told(v) for k, v in islice(metadata.items(), MAX_METADATA)},
        links=tuple(plain(x) for x in listed(value.links, "links", MAX_LINKS) if isinstance(x, str)),
        published=_text(value.published)[:MAX_DATE_CHARS] or None,
        flags=flags,
        steps=tuple(
            ExtractionStep(
                name=_told(step.name),
                words=int(_number(step.words)),
                won=bool(step.won),
                reason=_told(step.reason),
            )
            for step in listed(value.steps, "steps", MAX_METADATA)
            if isinstance(step, ExtractionStep)
        ),
        files=tuple(
            FileLink(url=plain(link.url), text=_told(link.text), media_type=_told(link.media_type))
            for link in listed(value.files, "files", MAX_LINKS)
            if isinstance(link, FileLink) and isinstance(link.url, str)
        ),
    )


def _told(value: Any) -> str:
    return _text(value if isinstance(value, str) else str(value))


def check_scores(value: Any, n: int) -> tuple[float, ...]:
    """Raises ContractViolation unless ``value`` is ``n`` finite numbers, none beyond ``MAX_SCORE``."""
    scores = listed(value, "scores", n + 1)
    if len(scores) != n:
        raise ContractViolation(
            f"returned {len(scores)}{'+' if len(scores) > n else ''} scores for {n} passages"
        )
    try:
        numbers = tuple(float(s) for s in scores)
    except (TypeError, ValueError, OverflowError):
        raise ContractViolation("returned scores that are not numbers") from None
    if not all(abs(s) <= MAX_SCORE for s in numbers):
        raise ContractViolation("returned scores that are not finite, or too large to be summed")
    return numbers


def check_partial_scores(value: Any, n: int) -> tuple[float | None, ...]:
    """Raises ContractViolation unless ``value`` is ``n`` finite numbers, some of which may be None."""
    scores = listed(value, "scores", n + 1)
    known = [place for place, score in enumerate(scores) if score is not None]
    checked = dict(zip(known, check_scores([scores[place] for place in known], len(known)), strict=True))
    if len(scores) != n:
        raise ContractViolation(f"returned {len(scores)} scores for {n} passages")
    return tuple(checked.get(place) for place in range(n))


def check_embeddings(value: Any, n: int) -> Embeddings:
    """Raises ContractViolation unless ``value`` holds ``n`` vectors in a buffer of the right size."""
    if not isinstance(value, Embeddings) or value.rows != n or len(value.data) != 4 * value.rows * value.dim:
        raise ContractViolation(f"returned {type(value).__name__} where embeddings of {n} texts belong")
    return value


def check_compressed(value: Any, given: Sequence[Chunk], budget: int) -> tuple[Chunk, ...]:
    """Raises ContractViolation unless ``value`` is chunks of the given sources within the budget."""
    chunks = [_chunk(c) for c in listed(value, "Chunk", len(given) + 1)]
    urls = {c.url for c in given}
    if len(chunks) > len(given) or not all(c.url in urls for c in chunks):
        raise ContractViolation("returned chunks that it was not given")
    total = sum(len(c.text) for c in chunks)
    if total > budget:
        raise ContractViolation(f"returned {total} characters for a budget of {budget}")
    return tuple(chunks)


def _chunk(value: Any) -> Chunk:
    if not isinstance(value, Chunk) or not isinstance(value.text, str):
        raise ContractViolation(f"returned a {type(value).__name__} where a Chunk with a text belongs")
    return evolve(
        value,
        text=plain(value.text),
        url=plain(value.url),
        title=_text(value.title),
        heading_path=tuple(_text(x) for x in listed(value.heading_path, "headings", MAX_LINKS)),
        score=_number(value.score),
    )


def check_places(value: Any, n: int, at_most: int) -> tuple[int, ...]:
    """Raises ContractViolation unless ``value`` has up to ``at_most`` different places below ``n``."""
    places = listed(value, "places", at_most)
    if not all(type(p) is int and 0 <= p < n for p in places) or len(set(places)) < len(places):
        raise ContractViolation(f"returned places {places!r} where different ones of {n} texts belong")
    return tuple(places)


def check_match(value: Any, n: int) -> Match | None:
    """Raises ContractViolation unless ``value`` is None or a Match with an index below ``n``."""
    if value is None:
        return None
    right = isinstance(value, Match) and type(value.index) is int and 0 <= value.index < n
    if not right or not math.isfinite(value.score):
        raise ContractViolation(f"returned {type(value).__name__} where a Match of {n} candidates belongs")
    return Match(
        index=value.index,
        query=_text(value.query),
        score=min(max(_number(value.score), 0.0), 1.0),
        reason=_few_words(value.reason),
    )


def _few_words(value: Any) -> str:
    line = " ".join(_text(value).split())[:MAX_REASON_CHARS]
    return "".join(c for c in line if c.isprintable())
