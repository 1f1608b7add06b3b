"""Providers by stage and name: which can work, which cannot and why, and which are chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any

from attrs import evolve, frozen

from ..artefacts import Model, ModelSpec
from ..errors import ConfigError, ContractViolation, tellable
from ..providers import Provider
from ..settings import Settings
from ..settings_load import structure
from .limits import TookTooLong, within
from .manager import Manager, describe
from .report import STAGES, ProviderReport

HOOKS: Mapping[str, str] = {
    "search": "webfetch_search_engines",
    "fetch": "webfetch_fetchers",
    "extract": "webfetch_extractors",
    "rank": "webfetch_rankers",
    "compress": "webfetch_compressors",
    "cache": "webfetch_caches",
    "match": "webfetch_query_matchers",
    "freshness": "webfetch_freshness_classifiers",
    "llm": "webfetch_llms",
}
"""The hook that collects the providers of each stage."""

NOUNS: Mapping[str, str] = {
    "search": "search engine",
    "fetch": "fetcher",
    "extract": "extractor",
    "rank": "ranker",
    "compress": "compressor",
    "cache": "cache",
    "match": "query matcher",
    "freshness": "freshness classifier",
    "llm": "language model",
}

MAX_PROVIDERS_PER_HOOK = 100
"""More than this from one implementation is a flood, not a declaration."""


@frozen(kw_only=True)
class Entry:
    """One provider in the catalog. ``state`` is ``ready``, ``off`` or ``broken``.

    ``models`` are those that it requires with its settings; ``lacks`` says that something else is missing.
    """

    stage: str
    provider: Provider[Any]
    plugin: str
    dist: str = ""
    version: str = ""
    state: str = "ready"
    reason: str = ""
    settings: Any = None
    misconfigured: bool = False
    models: tuple[Model, ...] = ()
    lacks: bool = False

    @property
    def name(self) -> str:
        return self.provider.name


class Catalog:
    """Collected once per ``Webfetch``, then frozen."""

    def __init__(self, manager: Manager, settings: Settings, environ: Mapping[str, str]) -> None:
        self._settings = settings
        self.notes: list[str] = []
        tables = _check_tables(manager, settings)
        self._entries = {
            stage: _refuse_duplicates(
                [
                    _judge(entry, tables, environ, settings, manager.hook_limit_s)
                    for entry in _collect(manager, stage, self.notes, settings.strict_plugins)
                ]
            )
            for stage in STAGES
        }

    def entries(self, stage: str) -> tuple[Entry, ...]:
        """Every provider of a stage, by (-priority, name)."""
        return self._entries[stage]

    def chosen(self, stage: str) -> tuple[Entry, ...]:
        """The providers to use, in order.

        Raises:
            ConfigError: a named provider is unknown, off or broken, or any has a mistake in its
                settings; the message carries the fix.
        """
        wanted = getattr(self._settings, stage)
        if wanted == "auto":
            # A mistake of the operator's is not a provider that declines: it would go unnoticed.
            if wrong := next((e for e in self._entries[stage] if e.misconfigured), None):
                raise ConfigError(wrong.reason)
            return tuple(e for e in self._entries[stage] if e.state == "ready")
        return tuple(self.named(stage, name) for name in dict.fromkeys(wanted))

    def named(self, stage: str, name: str) -> Entry:
        """The provider of that name, ready to work.

        Raises:
            ConfigError: it is unknown, off or broken.
        """
        same = [e for e in self._entries[stage] if e.name == name]
        if not same:
            known = [e.name for e in self._entries[stage]]
            told = _unknown(stage, name, known)
            raise ConfigError(told, fix="" if "did you mean" in told else _install(stage, name))
        ready = [e for e in same if e.state == "ready"]
        if ready:
            return ready[0]
        entry = same[0]
        raise ConfigError(
            f"the {NOUNS[stage]} {name!r} ({entry.dist or entry.plugin}) is {entry.state}: {entry.reason}"
        )

    def models(self, *, wanted: bool = False) -> tuple[ModelSpec, ...]:
        """Every model that a provider requires or could use, by name, each once.

        Args:
            wanted: leave out what would switch no provider on: models that are optional, and those of
                providers that lack something else, too.
        """
        found: dict[tuple[str, str, str], ModelSpec] = {}
        for stage in STAGES:
            for entry in self._entries[stage]:
                for model in entry.models:
                    if not wanted or not (model.optional or entry.lacks):
                        spec = model.spec
                        found.setdefault((spec.name, spec.revision, spec.path), spec)
        return tuple(found[key] for key in sorted(found))

    def _used(self, stage: str) -> set[tuple[str, str]]:
        """What the settings choose of a stage, mistakes elsewhere in it aside."""
        if getattr(self._settings, stage) == "auto":
            return {(e.plugin, e.name) for e in self._entries[stage] if e.state == "ready"}
        try:
            return {(e.plugin, e.name) for e in self.chosen(stage)}
        except ConfigError:
            return set()

    def reports(self) -> tuple[ProviderReport, ...]:
        """Every provider and its state; ready ones that the settings pass over are ``unused``."""
        rows = []
        for stage in STAGES:
            used = self._used(stage)
            for entry in self._entries[stage]:
                state = entry.state
                if state == "ready" and (entry.plugin, entry.name) not in used:
                    state = "unused"
                rows.append(
                    ProviderReport(
                        stage=stage,
                        name=entry.name,
                        plugin=entry.plugin,
                        dist=entry.dist,
                        state=state,
                        reason=entry.reason,
                        summary=entry.provider.summary,
                        priority=entry.provider.priority,
                        usd_per_1k=getattr(entry.provider.traits, "usd_per_1k", 0.0),
                    )
                )
        return tuple(rows)


def _unknown(stage: str, name: str, known: list[str]) -> str:
    meant = _OTHER_NAMES.get(name.lower(), name)
    near = [meant] if meant in known else get_close_matches(name, known, n=1)
    listed = ", ".join(known) if known else "none"
    return f"no installed plugin has a {NOUNS[stage]} named {name!r} (installed: {listed})" + (
        f"; did you mean {near[0]}?" if near else ""
    )


def _install(stage: str, name: str) -> str:
    """What to do about a name that nothing installed has. Only dists of this project are named: anybody may
    have put one that is merely spelt like them onto an index."""
    if name in _OURS.get(stage, ()):
        return f"pip install webfetch-{stage}-{name.replace('_', '-')}"
    return "name an installed one (`webfetch plugins` lists them), or install the plugin that brings it"


_OURS = {
    "search": ("brave", "ddg", "exa", "local", "perplexity", "searxng", "serper", "tavily"),
    "fetch": ("browser", "http"),
    "extract": ("html", "pdf"),
    "rank": ("bm25", "onnx", "sbert"),
    "compress": ("sentences",),
    "cache": ("lmdb",),
    "match": ("semantic",),
    "freshness": ("classifier",),
    "serve": ("http", "mcp"),
}
_OTHER_NAMES = {"duckduckgo": "ddg"}


# ---- collecting ----------------------------------------------------------------------------------


def _collect(manager: Manager, stage: str, notes: list[str], strict: bool) -> Iterator[Entry]:
    for answer in manager.ask_each(HOOKS[stage]):
        plugin = manager.get(answer.plugin)
        dist, version = (plugin.dist, plugin.version) if plugin else ("", "")
        problem = answer.problem
        rows: list[Any] = []
        if not problem:
            try:
                rows = list(islice(answer.value or (), MAX_PROVIDERS_PER_HOOK + 1))
            except Exception as exc:
                problem = (
                    f"{HOOKS[stage]} returned {type(answer.value).__name__}, not providers: {describe(exc)}"
                )
        if len(rows) > MAX_PROVIDERS_PER_HOOK:
            problem = f"{HOOKS[stage]} returned more than {MAX_PROVIDERS_PER_HOOK} providers"
        wrong = [type(row).__name__ for row in rows if not isinstance(row, Provider)]
        if wrong:
            problem = f"{HOOKS[stage]} returned a {wrong[0]} where a Provider belongs"
        if problem and strict:
            raise ContractViolation(f"{answer.plugin}: {problem}")
        if problem:
            notes.append(f"{answer.plugin} ({dist}): {problem}")
            manager.mark_failed(answer.plugin, problem)
            continue
        for provider in rows:
            yield Entry(stage=stage, provider=provider, plugin=answer.plugin, dist=dist, version=version)


def _judge(
    entry: Entry,
    tables: Mapping[str, Mapping[str, Any]],
    environ: Mapping[str, str],
    settings: Settings,
    limit_s: float,
) -> Entry:
    """Decide, without building it, whether a provider can work."""

    # Where the host keeps its data may be a setting; a requirement sees the environment alone.
    surroundings = {**environ, "WEBFETCH_HOME": str(settings.home_dir(environ))}

    def judge() -> Entry:
        provider = entry.provider
        table = tables.get(entry.plugin, {})
        made: Any = None
        if provider.settings is not None:
            path = f"plugins.{entry.plugin}"
            made = structure(provider.settings, table, path=path, origins=settings.origins)
        elif table:
            keys = ", ".join(sorted(table))
            raise ConfigError(f"plugins.{entry.plugin}: {provider.name} has no settings, got {keys}")
        reasons, models, lacks = [], [], False
        for requirement in provider.requires:
            fit = getattr(requirement, "with_settings", None)
            fitted = fit(made) if callable(fit) else requirement
            missing = fitted.missing(surroundings)
            if missing:
                reasons.append(tellable(missing))
            if isinstance(fitted, Model):
                models.append(fitted)
            elif missing:
                lacks = True
        judged = evolve(entry, models=tuple(models), lacks=lacks)
        if reasons:
            return evolve(judged, state="off", reason=reasons[0])
        return evolve(judged, settings=made)

    try:
        # Requirements and the defaults of settings are the plugin's code, too.
        judged: Entry = within(limit_s, judge, f"judge-{entry.name}")
        return judged
    except ConfigError as exc:
        return evolve(entry, state="broken", reason=str(exc), misconfigured=True)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:
        told = str(exc) if isinstance(exc, TookTooLong) else f"failed: {describe(exc)}"
        return evolve(entry, state="broken", reason=f"its requirements or settings {told}")


def _check_tables(manager: Manager, settings: Settings) -> Mapping[str, Mapping[str, Any]]:
    """Refuse settings for a plugin that is not installed: a typo there would go unnoticed for ever."""
    known = [p.name for p in manager.plugins]
    for name, table in settings.plugins.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ConfigError(
                f"plugins.{name}: no installed plugin has this name"
                + (f", did you mean {near[0]}?" if near else ""),
                fix="" if near else _add_or_remove(name),
            )
        if not isinstance(table, Mapping):
            raise ConfigError(f"plugins.{name}: expected a table, got {table!r}")
    return settings.plugins


def _add_or_remove(plugin: str) -> str:
    stage, _, name = plugin.partition("_")
    if name in _OURS.get(stage, ()):
        return f"{_install(stage, name)}, or remove the table"
    return "install the plugin of that name, or remove the table"


def _refuse_duplicates(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Two plugins that give one name in a stage: both off, both named. Nobody wins by luck."""
    rows = sorted(entries, key=lambda e: (-e.provider.priority, e.name, e.plugin))
    owners: dict[str, list[Entry]] = {}
    for row in rows:
        owners.setdefault(row.name, []).append(row)
    return tuple(
        row
        if len(owners[row.name]) == 1
        else evolve(
            row,
            state="broken",
            reason=f"the name {row.name!r} is given by "
            + " and ".join(sorted(f"{o.plugin} ({o.dist or 'no distribution'})" for o in owners[row.name]))
            + ": block one of them (block_plugins)",
        )
        for row in rows
    )
