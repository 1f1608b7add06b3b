"""The one record of what happened. Attempts, trace, progress and counters are derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import Factory, frozen


@frozen(kw_only=True)
class Event:
    """Something that happened, named in the dotted past tense.

    =====================  ==========================================================================
    name                   when
    =====================  ==========================================================================
    ``host.started``       a ``Webfetch`` opened; ``host.stopping`` when it closes
    ``plugin.failed``      a plugin could not be loaded, asked or built (``reason`` says why)
    ``search.started``     a search began; ``search.finished`` with its elapsed time and chunk count
    ``search.cancelled``   the caller gave it up, after its elapsed time
    ``call.started``       a provider is about to be called for ``target``
    ``call.finished``      it answered or was given up: ``outcome``, ``reason``, ``elapsed_s``, ``count``
    ``call.left_behind``   the search went on without waiting for it any longer
    ``stage.finished``     a stage of the pipeline is over (``stage``, ``elapsed_s``, ``count``)
    ``breaker.opened``     a provider is benched; ``breaker.closed`` when it serves again
    ``cache.hit``          the query cache answered (``data["kind"]``); ``cache.missed`` otherwise
    ``page.cached``        a page went into the page cache (``stored``), came out of it (``hit``), was
                            confirmed by its site (``renewed``) or stood in for it (``stale``); for ``hit``
                            and ``stale`` ``data["age_s"]`` is how old it was
    =====================  ==========================================================================

    ``at`` is an instant of the host's monotonic clock, ``request_id`` groups the events of one
    search or fetch and is empty for events of the host.
    """

    name: str
    at: float
    request_id: str = ""
    stage: str = ""
    provider: str = ""
    target: str = ""
    outcome: str = ""
    reason: str = ""
    elapsed_s: float = 0.0
    count: int = 0
    cost_usd: float = 0.0
    data: Mapping[str, Any] = Factory(dict)
