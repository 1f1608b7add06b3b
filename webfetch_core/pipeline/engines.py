"""Asking the engines: all at once, one after the other, or one; and what their answers say of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import Factory, evolve, fields

from ..errors import AllEnginesFailed, WebfetchError
from ..models import Attempt, Freshness, SearchHit, SearchRequest
from ..providers import SearchTraits
from ..runtime.calls import Handle
from ..runtime.deadline import Deadline
from ..runtime.emitter import Scope
from ..runtime.host import Host
from ..runtime.replies import check_hits
from .fusion import filter_domains, silently_blocked
from .request import SearchOptions

TRIES_PER_PAGE = 2
"""Lower ranks fill in for pages that fail, up to this many tries for each page wanted."""

Answered = Callable[[str, tuple[SearchHit, ...] | None, Exception | None], None]
"""Told of each engine: its name and all of its hits, or the error that it ended with."""


def chosen_engines(host: Host, options: SearchOptions) -> tuple[Handle, ...]:
    """The engines for a search, in order.

    Raises:
        ConfigError: an engine that was named is unknown, off or broken.
        AllEnginesFailed: none is ready; every installed engine is listed with its reason.
    """
    if options.engines:
        names = dict.fromkeys(options.engines)
        handles = tuple(host.handle_of(host.catalog.named("search", name)) for name in names)
    else:
        handles = host.handles("search")
    if host.settings.search_mode == "single":
        handles = handles[:1]
    if handles:
        return handles
    if not host.settings.search:
        raise AllEnginesFailed(
            "the setting search is an empty list", fix='set it to "auto", or name the engines to ask'
        )
    off = [
        Attempt(
            stage="search",
            provider=e.name,
            outcome="not_configured" if e.state == "off" else "config",
            reason=e.reason,
        )
        for e in host.catalog.entries("search")
    ]
    listed = "; ".join(f"{a.provider}: {a.reason}" for a in off)
    raise AllEnginesFailed(
        "no search engine is ready" + (f": {listed}" if listed else ""),
        off,
        fix="" if listed else "pip install webfetch-search-ddg, or webfetch-search-local for your own files",
    )


def is_network(handle: Handle) -> bool:
    """Whether an engine leaves the machine."""
    traits = handle.entry.provider.traits
    return traits.network if isinstance(traits, SearchTraits) else True


def identities(host: Host, handles: Sequence[Handle], deadline: Deadline) -> tuple[str, ...] | None:
    """What stands for the engines in a cache key; None when an answer of theirs must not be cached."""
    names = []
    for handle in handles:
        if is_network(handle):
            names.append(handle.name + changed_settings(handle.entry.settings))
            continue
        try:
            print_ = host.caller.call(
                handle,
                lambda engine: engine.fingerprint() if hasattr(engine, "fingerprint") else "",
                scope=host.scope(),
                deadline=deadline,
                count=lambda _: 1,
            )
        except WebfetchError:
            deadline.raise_if_cancelled()
            names.append(f"{handle.name}@off")
            continue
        if not print_:
            return None
        names.append(f"{handle.name}@{print_}")
    return tuple(names)


def changed_settings(settings: Any) -> str:
    """A mark of the settings that differ from their defaults: another country, another answer."""
    if settings is None:
        return ""
    changed = {
        a.name: repr(getattr(settings, a.name))
        for a in fields(type(settings))
        if a.name not in _NO_EFFECT and getattr(settings, a.name) != _default(a)
    }
    if not changed:
        return ""
    return "?" + hashlib.sha256(json.dumps(changed, sort_keys=True).encode()).hexdigest()[:12]


def _default(attribute: Any) -> Any:
    default = attribute.default
    return default.factory() if isinstance(default, Factory) and not default.takes_self else default  # type: ignore[arg-type]


_NO_EFFECT = frozenset({"calls_per_s", "timeout_s", "proxy"})
"""Settings of an engine that change how it is asked, not what it finds."""


def ask(
    host: Host,
    handles: Sequence[Handle],
    options: SearchOptions,
    freshness: Freshness,
    *,
    scope: Scope,
    deadline: Deadline,
    answered: Answered,
) -> None:
    """Start the engines and return at once; ``answered`` is called in their threads, once for each.

    In ``fallback`` mode an engine is asked only when those before it failed or found nothing;
    engines that were not needed are not reported.
    """
    limit = deadline.within(host.settings.engine_timeout_s)

    def one(handle: Handle, limit: Deadline) -> tuple[SearchHit, ...] | None:
        try:
            hits = _ask_one(host, handle, options, freshness, scope, limit)
        except Exception as exc:  # strict_plugins lets the plugin's own through
            answered(handle.name, None, exc)
            return None
        answered(handle.name, hits, None)
        return hits

    if host.settings.search_mode != "fallback":
        for handle in handles:
            host.tasks.spawn(partial(one, handle, limit), f"search-{handle.name}")
        return

    def in_turn() -> None:
        for handle in handles:
            if deadline.expired():
                return
            hits = one(handle, deadline.within(host.settings.engine_timeout_s))
            if hits and wanted(hits, options):
                return
            if hits == () and is_network(handle):
                # Nobody can tell a silent block from a hard query here: take it for a block.
                handle.breaker.record_failure("it answered nothing")

    host.tasks.spawn(in_turn, "search-fallback")


def _ask_one(
    host: Host, handle: Handle, options: SearchOptions, freshness: Freshness, scope: Scope, limit: Deadline
) -> tuple[SearchHit, ...]:
    traits = handle.entry.provider.traits
    request = SearchRequest(
        query=options.query,
        limit=hits_to_ask_for(handle, options.limit),
        freshness=freshness if options.hint is not None else None,
        include_domains=options.include_domains,
        exclude_domains=options.exclude_domains,
        language=options.language,
        country=options.country,
    )
    limit_chars = traits.max_query_chars if isinstance(traits, SearchTraits) else None
    if limit_chars and len(request.query) > limit_chars:
        request = evolve(request, query=cut_at_word(request.query, limit_chars))
    within = limit.within(handle.entry.provider.timeout_s)
    request = evolve(request, deadline=within.at)
    schemes = host.own_schemes(handle.entry.plugin)
    hits: tuple[SearchHit, ...] = host.caller.call(
        handle,
        lambda engine: engine.search(request),
        scope=scope,
        deadline=within,
        check=lambda value: check_hits(value, request, handle.name, schemes),
        count=len,
        note=unapplied(request, traits if isinstance(traits, SearchTraits) else SearchTraits()),
    )
    return hits


def wanted(hits: tuple[SearchHit, ...], options: SearchOptions) -> tuple[SearchHit, ...]:
    """The hits that the request's domain filters let through."""
    return filter_domains(hits, options.include_domains, options.exclude_domains)


def hits_to_ask_for(handle: Handle, pages: int) -> int:
    """Some more hits than pages, so that lower ranks can fill in for pages that fail.

    Engines on the net give (and charge) ten at a time: fewer save nothing, more may cost a call.
    """
    spare = TRIES_PER_PAGE * pages
    hits = max(pages, min(spare, 10)) if is_network(handle) else spare
    traits = handle.entry.provider.traits
    return min(hits, traits.max_limit) if isinstance(traits, SearchTraits) else hits


def unapplied(request: SearchRequest, traits: SearchTraits) -> str:
    """Which filters of a request its engine does not apply; domains are filtered here in any case."""
    asked = {"freshness": request.freshness not in (None, Freshness.STABLE)}
    asked |= {name: getattr(request, name) is not None for name in ("language", "country")}
    missing = [name for name, is_asked in asked.items() if is_asked and name not in traits.filters]
    return f"not applied by this engine: {', '.join(missing)}" if missing and traits.network else ""


def cut_at_word(text: str, limit: int) -> str:
    """The first words of ``text`` that fit into ``limit`` characters."""
    if len(text) <= limit:
        return text
    cut = text[: limit + 1].rpartition(" ")[0]
    return cut or text[:limit]


def judge_empties(handles: Sequence[Handle], counts: Mapping[str, int]) -> frozenset[str]:
    """Count silent blocks against their engines (``fuse``): empty while a peer found plenty."""
    blocked = silently_blocked(counts)
    for handle in handles:
        if handle.name not in counts or counts[handle.name] or not is_network(handle):
            continue
        if handle.name in blocked:
            handle.breaker.record_failure("it answered nothing while another engine found results")
        else:
            handle.breaker.record_neutral()
    return blocked


def all_failed(
    failures: Mapping[str, WebfetchError], pending: Sequence[str], handles: Sequence[Handle], scope: Scope
) -> AllEnginesFailed:
    """The error that lists every engine with its own reason, first choice first."""
    order = [handle.name for handle in handles]
    attempts = sorted(
        (a for a in scope.attempts() if a.stage == "search"),
        key=lambda a: order.index(a.provider) if a.provider in order else len(order),
    )
    reasons = {**dict.fromkeys(pending, "it did not answer in time"), **failures}
    listed = "; ".join(f"{name}: {reasons[name]}" for name in order if name in reasons)
    return AllEnginesFailed(
        f"no engine answered: {listed}",
        attempts,
        fix="try again later, or add an engine: webfetch plugins lists what is installed",
    )
