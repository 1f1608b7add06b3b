"""What adapters of search APIs would otherwise each write again. Pure; part of ``webfetch_core.api``."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote, urlsplit

from .errors import AuthFailed, BadResponse, NotConfigured, ProviderError

# A tag begins with a letter or a slash: "5 < p < 9" is text.
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_SPACE = re.compile(r"\s+")
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[Tt ]\d.*)?\Z", re.ASCII)
_MAIL_DATE = re.compile(r"(?:[a-z]{3}, ?)?\d{1,2} [a-z]{3} \d{4} \d\d?:\d\d.*\Z", re.ASCII | re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:\S", re.ASCII | re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,12}(?:\.\d+)?\Z", re.ASCII)
_MAX_WAIT_S = 7 * 86_400.0
_MISSING = object()

LEAST_SECRET_CHARS = 4
"""What is shorter is no secret, and would be found in everything."""


def plain_text(value: Any) -> str:
    """Text of an API's string: tags out, entities decoded once, white space folded.

    Anything that is not text (None, a number where a title should be) gives an empty string.
    """
    if not isinstance(value, str):
        return ""
    return _SPACE.sub(" ", html.unescape(_TAG.sub("", value))).strip()


def rows(data: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects of the list at ``path`` in an API's JSON; missing or misshapen parts give none."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        return []
    return [row for row in data if isinstance(row, Mapping)]


def result_rows(
    data: Any, *path: str, service: str, url_fields: Sequence[str] = ("url",), fix: str = ""
) -> list[Mapping[str, Any]]:
    """The results of a search reply: the objects of the list at ``path``. Null is an empty list.

    Args:
        service: its name, for the error (``Brave``).
        url_fields: the fields that may hold a result's URL.
        fix: what the error says to do.

    Raises:
        BadResponse: there is no list at ``path``, or no item of it has a URL, of whatever scheme.
            That is another layout; taken for nothing found, it would never be noticed.
    """
    for key in path:
        data = data.get(key, _MISSING) if isinstance(data, Mapping) else _MISSING
    if data is None:
        return []
    if not isinstance(data, list):
        raise BadResponse(
            f"{service}'s answer has another layout: {'.'.join(path) or 'it'} is no list", fix=fix
        )
    found = rows(data)
    if data and not any(_has_scheme(row.get(field)) for row in found for field in url_fields):
        raise BadResponse(
            f"{service}'s answer has another layout: none of its {len(data)} results has a URL", fix=fix
        )
    return found


def _has_scheme(value: Any) -> bool:
    return isinstance(value, str) and _SCHEME.match(value.strip()) is not None


def text_at(data: Any, *path: str) -> str:
    """The plain text at ``path`` in an API's JSON, or an empty string."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return plain_text(data)


def web_url(value: Any) -> str:
    """``value`` where it is an http or https URL that can be fetched, else an empty string.

    The URL stays as it is, but for white space around it.
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and parts.hostname and not _SPACE.search(text)
    except ValueError:
        return ""
    return text if usable else ""


def iso_date(value: Any) -> str | None:
    """A date or date-time of an API in one form of ISO 8601, or None for anything else.

    Takes ISO 8601 (``2026-11-10T09:00:00.250Z``) and the dates of mail and HTTP headers, RFC 5322
    (``Tue, 10 Nov 2026 09:00:00 GMT``). Fractions of a second are left out, and so is midnight in
    UTC or in no zone, which stands for an unknown hour.
    """
    text = value.strip() if isinstance(value, str) else ""
    try:
        if _ISO_DATE.match(text):
            moment = datetime.fromisoformat(text)
        elif _MAIL_DATE.match(text):
            moment = parsedate_to_datetime(text)
        else:
            return None
        if moment.tzinfo is not None:
            moment.astimezone(UTC)  # a reader will count from it: one out of range is no date
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    moment = moment.replace(microsecond=0)
    if moment.time() == time() and not moment.utcoffset():
        return moment.date().isoformat()
    return moment.isoformat()


def shorten(text: str, limit: int, *, mark: str = "…") -> str:
    """``text`` in at most ``limit`` characters, ``mark`` included where something was cut.

    The cut is at a word, unless the word at the limit takes more than half of the room.
    ``limit`` is at least the length of ``mark``.
    """
    if len(text) <= limit:
        return text
    room = limit - len(mark)
    at_word = text[: room + 1].rpartition(" ")[0].rstrip()
    return (at_word if len(at_word) > limit // 2 else text[:room]) + mark


def api_key(environ: Mapping[str, str], name: str, *, optional: bool = False, fix: str = "") -> str:
    """The key in the environment variable ``name``, fit for a header, without white space around it.

    Declare it as ``EnvKey(name)`` or ``EnvKey(name, optional=True)``, so that it never shows in errors.

    Args:
        optional: an empty string, where it is not set, instead of an error.
        fix: what an error says to do; by default to set ``name``.

    Raises:
        NotConfigured: it is not set.
        AuthFailed: it has characters that no key has; they are not shown.
    """
    key = environ.get(name, "").strip()
    fix = fix or f"set {name} to the key of your account"
    if not key and not optional:
        raise NotConfigured(f"{name} is not set", fix=fix)
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise AuthFailed(
            f"{name} has characters that no key has: a blank, a line break or an accent", fix=fix
        )
    return key


def without_secret(data: Any, secret: str) -> Any:
    """``data``, an API's JSON, with ``secret`` struck out of every text in it, names included.

    For what is logged, and for a service's words before they are cut: they may echo the key that
    they refuse, and the core finds no half of one. The secret is found as it stands, percent-encoded
    and as HTML entities; an empty or very short one is not looked for.
    """
    secret = secret.strip()
    if len(secret) < LEAST_SECRET_CHARS:
        return data
    return _struck(data, tuple(dict.fromkeys((secret, quote(secret, safe=""), html.escape(secret)))))


def _struck(data: Any, forms: Sequence[str]) -> Any:
    if isinstance(data, str):
        for form in forms:
            data = data.replace(form, "***")
        return data
    if isinstance(data, Mapping):
        return {_struck(name, forms): _struck(value, forms) for name, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_struck(value, forms) for value in data]
    return data


def error_json(error: ProviderError) -> Mapping[str, Any]:
    """The JSON object in the body of an API's error, or an empty one."""
    try:
        data = json.loads(error.body)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, Mapping) else {}


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """The seconds that a reply asks to be left alone for, a week at most; None where it does not say.

    From ``retry-after-ms``, as some APIs send it, else from ``retry-after`` (RFC 9110): seconds or a
    date, one that is past being 0.

    Args:
        headers: with lower-case names.
        now: in seconds since the epoch.
    """
    exact = headers.get("retry-after-ms", "").strip()
    if _SECONDS.match(exact):
        return min(float(exact) / 1000, _MAX_WAIT_S)
    text = headers.get("retry-after", "").strip()
    if _SECONDS.match(text):
        return min(float(text), _MAX_WAIT_S)
    try:
        moment = parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(moment - now, 0.0), _MAX_WAIT_S)


def with_sites(
    query: str, include: Iterable[str], exclude: Iterable[str], *, limit: int | None = None
) -> str:
    """``query`` with ``site:`` operators, for engines that have no domain parameters.

    ``(query) (site:a OR site:b) -site:c``. What does not fit into ``limit`` characters is left out,
    all of ``include`` or none of it: half of a list would be another question. The core filters the
    hits again, so an operator that is left out costs hits, never lets a wrong one in.
    """
    sites = " OR ".join(f"site:{d}" for d in include)
    narrowed = f"{query} ({sites})" if " OR " in sites else f"{query} {sites}".strip()
    if limit is not None and len(narrowed) > limit:
        narrowed = query
    for domain in exclude:
        longer = f"{narrowed} -site:{domain}"
        if limit is not None and len(longer) > limit:
            break
        narrowed = longer
    return narrowed
