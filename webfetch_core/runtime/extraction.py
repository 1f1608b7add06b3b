"""Asking extractors in order until one finds content, here or in a worker process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve

from .. import __version__
from ..errors import NotConfigured, PageError, WebfetchError
from ..models import Document, Page
from ..providers import ExtractTraits
from ..registry.catalog import Catalog, Entry
from ..registry.discovery import discover
from ..registry.manager import Manager
from ..settings import Settings
from .calls import Caller, Handle
from .deadline import Deadline, SystemClock
from .emitter import Emitter, Scope
from .replies import check_document

if TYPE_CHECKING:
    from .workers import WorkerSpec


def media_type(content_type: str) -> str:
    """``text/html`` of ``Text/HTML; charset=utf-8``."""
    return content_type.partition(";")[0].strip().lower()


def takes(entry: Entry, media: str) -> int:
    """How well an extractor fits a media type: 3 by name, 2 by ``text/*``, 1 by ``*/*``, 0 not at all."""
    traits = entry.provider.traits
    accepted = traits.content_types if isinstance(traits, ExtractTraits) else ("text/html",)
    best = 0
    for pattern in accepted:
        if pattern == media:
            best = max(best, 3)
        elif pattern.endswith("/*") and pattern != "*/*" and media.startswith(pattern[:-1]):
            best = max(best, 2)
        elif pattern == "*/*":
            best = max(best, 1)
    return best


def fitting(handles: Sequence[Handle], content_type: str) -> list[Handle]:
    """The extractors that take a type, the most specific first, else in the chosen order."""
    media = media_type(content_type) or "text/html"
    ranked = [(takes(h.entry, media), h) for h in handles]
    return [h for fit, h in sorted(ranked, key=lambda pair: -pair[0]) if fit]


def extract_by(
    handles: Sequence[Handle], page: Page, *, caller: Caller, scope: Scope, deadline: Deadline
) -> Document | None:
    """The first document that an extractor finds in ``page``; None when none of them finds any.

    Raises:
        NotConfigured: there is no extractor at all.
        PageError: no extractor takes this type (``unsupported_type``), or one recognised what is
            wrong with the page.
        WebfetchError: every extractor failed; the last one's error.
    """
    if not handles:
        raise NotConfigured("no extractor is in use", fix="pip install webfetch-extract-html")
    chain = fitting(handles, page.content_type)
    if not chain:
        raise PageError(
            f"no extractor takes {media_type(page.content_type) or 'an unknown type'}",
            kind="unsupported_type",
        )
    failure: WebfetchError | None = None
    answered = False
    for handle in chain:
        try:
            document = caller.call(
                handle,
                partial(_extract, page, handle.entry.provider.timeout_s, deadline),
                scope=scope,
                deadline=deadline,
                target=page.url,
                check=check_document,
                count=lambda d: len(d.text) if d else 0,
            )
        except WebfetchError as exc:
            failure = exc
            continue
        answered = True
        if document is not None:
            found: Document = document
            return found if found.url else evolve(found, url=page.final_url or page.url)
    if failure is not None and (not answered or isinstance(failure, PageError)):
        raise failure
    return None


def _extract(page: Page, timeout_s: float, deadline: Deadline, extractor: Any) -> Document | None:
    """In the call, so that the time that building the extractor took is not given to it again."""
    within = getattr(extractor, "extract_within", None)
    if not callable(within):
        document: Document | None = extractor.extract(page)
        return document
    found: Document | None = within(page, max(min(timeout_s, deadline.remaining()), 0.0))
    return found


# ---- in a worker process ----------------------------------------------------------------------------


def worker_spec(manager: Manager, settings: Settings, environ: Mapping[str, str]) -> WorkerSpec | None:
    """How a worker rebuilds the extractors, or None when it cannot: an object that the host passed
    in exists in this process alone."""
    from .workers import WorkerSpec

    loaded = [p for p in manager.plugins if p.state == "loaded" and "webfetch_extractors" in p.hooks]
    if not loaded or any(not p.dist for p in loaded):
        return None
    return WorkerSpec(
        factory=f"{__name__}:worker_factory",
        payload={
            "plugins": sorted(p.name for p in loaded),
            "extract": settings.extract if settings.extract == "auto" else list(settings.extract),
            "tables": {name: dict(table) for name, table in settings.plugins.items()},
            "home": str(settings.home_dir(environ)),
            "timeout_s": settings.fetch_timeout_s,
        },
    )


def worker_factory(payload: Mapping[str, Any]) -> Callable[[Page], Document | None]:
    """Build, in the worker, the chain of extractors that the host uses."""
    from .host import Host

    names = tuple(payload["plugins"])
    extract = payload["extract"]
    settings = Settings(
        allow_plugins=names,
        extract=extract if extract == "auto" else tuple(extract),
        plugins={name: table for name, table in payload["tables"].items() if name in names},
        home=payload["home"],
        extract_workers=0,
    )
    manager = Manager()
    manager.load([c for c in discover(__version__) if c.name in names], names, ())
    host = Host(settings, manager, Catalog(manager, settings, os.environ), SystemClock(), os.environ)
    emitter = Emitter()

    def extract_page(page: Page, seconds: float = float(payload["timeout_s"])) -> Document | None:
        return extract_by(
            host.handles("extract"),
            page,
            caller=host.caller,
            scope=Scope(emitter, host.clock),
            deadline=host.deadline(seconds),
        )

    extract_page.within = extract_page  # type: ignore[attr-defined]  # the worker knows how long it may take

    return extract_page
