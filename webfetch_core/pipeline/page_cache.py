"""The page cache: documents, and what their sites can be asked by whether they have changed."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from ..models import Document
from ..providers import Clock
from ..settings import TtlSettings
from ..stages import Cache
from .cache_rows import PAGES, decode_body, decode_row, encode_row, url_key
from .lifetimes import CLOCK_SLACK_S
from .tolerant_store import OnError, TolerantStore


@frozen(kw_only=True)
class CachedDocument:
    """A document from the page cache, with what a conditional request needs."""

    document: Document
    fetched_at: float
    age_s: float
    final_url: str = ""
    etag: str = ""
    last_modified: str = ""
    permission: str = ""


class PageCache:
    """Documents by canonical URL, for the flat ceiling of ``ttl``. The caller gives only content:
    failures go to :class:`NegativeCache`, walls nowhere."""

    def __init__(
        self,
        cache: Cache | TolerantStore | None,
        clock: Clock,
        ttl: TtlSettings,
        on_error: OnError | None = None,
    ) -> None:
        self._store = TolerantStore.over(cache, on_error)
        self._clock = clock
        self._ttl = ttl

    def get(self, url: str) -> CachedDocument | None:
        """Return the document; whether its ``age_s`` will do for the query is the caller's judgement."""
        key = url_key(url)
        value = self._store.get(PAGES, key)
        if value is None:
            return None
        row = decode_row(value)
        age = self._clock.time() - row.at if row else 0.0
        serves = row is not None and -CLOCK_SLACK_S <= age < self._ttl.ceiling_s
        document = decode_body(row, Document) if row and serves and row.facts.get("url") == url else None
        if row is None or document is None:
            self._store.delete(PAGES, key)
            return None
        return CachedDocument(
            document=document,
            fetched_at=row.at,
            age_s=max(age, 0.0),
            final_url=str(row.facts.get("final_url", "")),
            etag=str(row.facts.get("etag", "")),
            last_modified=str(row.facts.get("last_modified", "")),
            permission=str(row.facts.get("permission", "")),
        )

    def put(
        self,
        url: str,
        document: Document,
        *,
        final_url: str = "",
        validators: Mapping[str, str] | None = None,
        permission: str = "",
    ) -> bool:
        """Keep a document as fetched now. ``validators`` are the reply's headers, names in lower case.

        ``permission`` is a mark of what allowed the fetch, for pages that not everybody may read; the
        reader compares it with what is allowed then.

        A document without text is not kept. Returns whether it was.
        """
        if not document.text.strip():
            return False
        headers = validators or {}
        facts = {
            "url": url,
            "final_url": final_url,
            "etag": headers.get("etag", ""),
            "last_modified": headers.get("last-modified", ""),
            "permission": permission,
        }
        return self._store.put(PAGES, url_key(url), encode_row(self._clock.time(), facts, document))

    def renew(self, url: str, cached: CachedDocument, *, validators: Mapping[str, str] | None = None) -> bool:
        """Count the age from now: the server said that the page has not changed (304)."""
        headers = {"etag": cached.etag, "last-modified": cached.last_modified, **(validators or {})}
        return self.put(
            url,
            cached.document,
            final_url=cached.final_url,
            validators=headers,
            permission=cached.permission,
        )
