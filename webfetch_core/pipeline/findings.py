"""What the calling model found elsewhere and saved: kept apart, marked on every read, never compressed.

A finding is a model's word: nobody fetched it. It stands under ``model-finding://<digest>`` in a
space of its own, which is not evicted and which no purge empties unless it is named.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from attrs import frozen

from ..errors import BadQuery, CacheError, ConfigError
from ..models import Chunk, Freshness, Provenance, ProvenanceKind, SearchResult
from ..providers import Clock
from ..runtime.replies import visible
from ..settings import TtlSettings
from ..stages import Cache
from .cache_rows import (
    FINDINGS,
    Row,
    decode_body,
    decode_row,
    encode_row,
    freshness_of,
    normalise_query,
    url_key,
)
from .caching import CachedResult, is_of
from .lifetimes import CLOCK_SLACK_S, judge, lifetime
from .query_index import Asked, QueryIndex
from .request import SearchOptions, checked_query
from .tolerant_store import WRITE_S, TolerantStore

SCHEME = "model-finding"
SCOPE = "findings"
"""Of their queries in the index: a finding answers its question under whatever conditions it is asked."""
TITLE = "UNVERIFIED: saved by a model, not fetched"
"""Title of every finding's passage: its source header says what it is wherever it is shown."""

MAX_TEXT_CHARS = 4_000
"""An answer with its reasons; half of what a tool result holds, so that it is shown whole."""
MAX_SOURCE_CHARS = 2_048

_URL_DIGITS = 16
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@frozen(kw_only=True)
class Finding:
    """A finding as it was saved.

    Attributes:
        url: what stands for its source: ``model-finding://`` and the first digits of its key.
        source: where the model says that it has it from; nobody looked there. Empty when it did not say.
        freshness: its class, by which it ages as an answer of the web does.
        lifetime_s: for how long it is served, by the settings at the time it was saved.
    """

    url: str
    query: str
    text: str
    source: str = ""
    freshness: Freshness = Freshness.RECENT
    lifetime_s: float = 0.0


class FindingCache:
    """Findings by the query they answer. Thread-safe.

    Args:
        enabled: False saves none and serves none; what is there stays.
    """

    def __init__(self, store: TolerantStore, clock: Clock, ttl: TtlSettings, *, enabled: bool = True) -> None:
        self._store = store
        self._clock = clock
        self._ttl = ttl
        self._enabled = enabled

    @staticmethod
    def key(query: str) -> bytes:
        return finding_key(query)

    def save(
        self,
        cache: Cache,
        query: object,
        text: object,
        *,
        source: object = None,
        freshness: Freshness,
        bound: Freshness | None = None,
    ) -> Finding:
        """Keep a finding in ``cache``, in the place of an older one for the same query; durably.

        ``bound`` is the class of the query, by which a search ages what is served, whatever was said of
        it here.

        Raises:
            ConfigError: findings are switched off.
            BadQuery: the query, the text or the source cannot be taken; the message says why.
            CacheError: the cache did not take it.
        """
        check_enabled(self._enabled)
        question = checked_question(query)
        key = self.key(question)
        finding = Finding(
            url=finding_url(key),
            query=question,
            text=checked_text(text),
            source=checked_source(source),
            freshness=freshness,
            lifetime_s=min(lifetime(kind, self._ttl) for kind in (freshness, bound or freshness)),
        )
        facts = {"query": question, "freshness": freshness.value, "chunks": 1}
        reasons: list[str] = []
        patient = TolerantStore(cache, reasons.append, wait_s=WRITE_S)
        if not patient.put(FINDINGS, key, encode_row(self._clock.time(), facts, finding)):
            told = reasons[0] if reasons else f"the cache did not answer within {WRITE_S:.0f} s"
            raise CacheError(f"the finding was not saved: {told}", fix="webfetch cache stats, and try again")
        QueryIndex(patient).note(
            Asked(
                space=FINDINGS,
                key=key,
                query=question,
                scope=SCOPE,
                at=self._clock.time(),
                freshness=freshness,
            )
        )
        return finding

    def lookup(
        self, key: bytes, *, query: str | None = None, hint: Freshness | None = None
    ) -> CachedResult | None:
        """Return the finding where it still serves, else None.

        It serves while younger than the least of its class's lifetime, the hint's and the ceiling.
        Nothing refreshes it, so beyond its lifetime it is not stale but gone: deleted on the way. A
        stricter hint leaves it where it is. ``query`` is as in ``QueryCache.lookup``.
        """
        value = self._store.get(FINDINGS, key) if self._enabled else None
        if value is None:
            return None
        row = decode_row(value)
        age = self._clock.time() - row.at if row else 0.0
        found = cached_finding(row, age) if row and age >= -CLOCK_SLACK_S and is_of(row, query) else None
        if (
            found is None
            or finding_key(found.result.provenance.matched_query) != key
            or found.age_s >= lifetime(found.freshness, self._ttl)
        ):
            self._store.delete(FINDINGS, key)
            return None
        kind = judge(found.age_s, found.freshness, hint, self._ttl)
        return found if kind is ProvenanceKind.EXACT else None


def may_serve(options: SearchOptions) -> bool:
    """Whether a finding can be an answer at all: not to who asks for fresh pages, certain engines, hosts,
    or a language, of which a model's word has none."""
    return not (
        options.force_fresh
        or options.engines
        or options.include_domains
        or options.exclude_domains
        or options.language
        or options.country
    )


def cached_finding(row: Row, age_s: float) -> CachedResult | None:
    """Return what a row of the space ``findings`` holds, as the result of a search, or None when it is
    damaged. The marks are put on here, not stored: no row comes without them."""
    finding = decode_body(row, Finding)
    if finding is None or not finding.text.strip():
        return None
    age_s = max(age_s, 0.0)
    freshness = freshness_of(row)
    chunk = Chunk(
        text=finding.text, url=finding_url(finding_key(finding.query)), title=TITLE, end=len(finding.text)
    )
    notes = (f"source named by the model, not read: {finding.source}",) if finding.source else ()
    provenance = Provenance(kind=ProvenanceKind.FINDING, matched_query=finding.query, age_s=age_s)
    return CachedResult(
        result=SearchResult(
            query=finding.query, chunks=(chunk,), provenance=provenance, freshness=freshness, notes=notes
        ),
        age_s=age_s,
        kind=ProvenanceKind.FINDING,
        freshness=freshness,
    )


def finding_key(query: str) -> bytes:
    """The 32-byte key of a query's finding: two spellings of one question have the same."""
    return url_key(f"{SCHEME}:{normalise_query(query)}")


def finding_url(key: bytes) -> str:
    """The URL that a finding's passage stands under."""
    return f"{SCHEME}://{key.hex()[:_URL_DIGITS]}"


def is_finding(url: str) -> bool:
    """Whether a passage is a model's word and not a page's."""
    return url.startswith(f"{SCHEME}:")


# ---- what may be saved ---------------------------------------------------------------------------


def check_enabled(enabled: bool) -> None:
    """Raises ConfigError when findings are switched off."""
    if not enabled:
        raise ConfigError(
            "findings are switched off: the setting findings is false",
            fix="answer without saving, or set findings = true in webfetch.toml",
        )


def checked_question(query: object) -> str:
    """The query that a finding answers, as a search would take it. Raises BadQuery otherwise."""
    if isinstance(query, str) and (found := _CONTROL.search(query)):
        raise BadQuery(
            f"the query has the control character U+{ord(found[0]):04X}", fix="give it as plain text"
        )
    return checked_query(query)


def checked_text(text: object) -> str:
    """The text of a finding.

    Raises:
        BadQuery: it is not text, says nothing, is longer than ``MAX_TEXT_CHARS``, or has control
            characters other than line ends and tabs.
    """
    if not isinstance(text, str):
        raise BadQuery(f"the text of a finding must be text, got {type(text).__name__}")
    plain = visible(text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if not any(c.isalnum() for c in plain):
        raise BadQuery("the text of the finding is empty", fix="say what was found, in words")
    if found := _CONTROL.search(plain):
        raise BadQuery(
            f"the text of the finding has the control character U+{ord(found[0]):04X}",
            fix="give it as plain text",
        )
    if len(plain) > MAX_TEXT_CHARS:
        raise BadQuery(
            f"the text of the finding has {len(plain)} characters, more than {MAX_TEXT_CHARS}",
            fix="save the answer, not the page that it was found on",
        )
    return plain


def checked_source(source: object) -> str:
    """The URL that a model names as its source; empty for none. Raises BadQuery when it is no web address."""
    if source is None or source == "":
        return ""
    fix = "give the address of the page, as https://example.org/, or leave it away"
    if not isinstance(source, str):
        raise BadQuery(f"the source must be a URL, got {type(source).__name__}", fix=fix)
    url = source.strip()
    try:
        parts = urlsplit(url)
        web = parts.scheme in ("http", "https") and bool(parts.hostname)
        named = parts.username is not None or parts.password is not None
    except ValueError:
        web = named = False
    if not web or any(c.isspace() or not c.isprintable() for c in url):
        raise BadQuery(f"the source is no web address: {url[:100]!r}", fix=fix)
    if named:
        raise BadQuery("the source has a user name or password in it", fix="leave them away")
    if len(url) > MAX_SOURCE_CHARS:
        raise BadQuery(f"the source has {len(url)} characters, more than {MAX_SOURCE_CHARS}", fix=fix)
    return visible(url)
