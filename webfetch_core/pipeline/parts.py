"""What a ``Webfetch`` makes at its first search or page, and what it does over all of it."""

from __future__ import annotations

from functools import partial

from attrs import frozen

from ..errors import CacheError
from ..events import Event
from ..log import get_logger
from ..runtime.host import Host
from ..stages import Cache
from .counters import Counters
from .findings import Finding, FindingCache, check_enabled, checked_question
from .pages import PageLoader
from .pipeline import CLASSIFY_S, Pipeline
from .receipts import tally_fee
from .request import checked_freshness, classify
from .tolerant_store import WAIT_S, TolerantStore

_log = get_logger("app")


@frozen
class Parts:
    """One store, and all that stands on it."""

    store: TolerantStore
    counters: Counters
    loader: PageLoader
    pipeline: Pipeline

    def settle(self) -> None:
        """Write what was counted, and let writes that are under way end, for a moment."""
        self.counters.write(again=True)
        self.store.settle()


def make_parts(host: Host) -> Parts:
    """Build them; a store that is not open yet is used from when it is."""
    store = TolerantStore(lambda: host.store(0.0), on_error=_tell_of_cache, wait_s=WAIT_S)
    counters = Counters(store, clock=host.clock)
    host.emitter.subscribe(partial(_count_fee, counters))
    loader = PageLoader(host, store, counters)
    return Parts(store, counters, loader, Pipeline(host, store, loader, counters))


def _tell_of_cache(reason: str) -> None:
    _log.warning("cache.failed", reason=reason)


def _count_fee(counters: Counters, event: Event) -> None:
    # At the call, not at the search: what was left behind and what is refreshed behind costs as well.
    if event.name == "call.finished" and event.cost_usd:
        counters.note(tally_fee(event.cost_usd))


def keeps_nothing(host: Host) -> bool:
    """Whether there is no cache but the one that is built in."""
    return host.store() is None or host.handles("cache")[0].entry.plugin == "builtin"


def lasting_cache(host: Host) -> Cache:
    """The store in use. Raises CacheError when there is none, also when it is the one that keeps nothing."""
    store = host.open_store()
    if keeps_nothing(host):
        auto = host.settings.cache == "auto"
        raise CacheError(
            "no cache is in use: nothing is kept",
            fix="pip install webfetch-cache-lmdb" if auto else "see the setting cache",
        )
    return store


def save_finding(
    host: Host, parts: Parts, query: object, text: object, *, source: object, freshness: object
) -> Finding:
    """Keep what a model found; see ``Webfetch.save_finding``."""
    check_enabled(host.settings.findings)
    question, hint = checked_question(query), checked_freshness(freshness)
    cache = lasting_cache(host)
    own = classify(host, question, None, host.scope("classify"), host.deadline(CLASSIFY_S))
    findings = FindingCache(parts.store, host.clock, host.settings.ttl)
    saved = findings.save(cache, question, text, source=source, freshness=hint or own, bound=own)
    parts.counters.bump("findings_saved")
    return saved
