"""Loading plugins one by one and asking them, so that each can only spoil its own part.

pluggy's own call loop stops at the first exception and has no time limit; provider hooks are
therefore asked one implementation at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pluggy
from attrs import evolve, frozen

from .. import hookspecs
from ..errors import tellable
from ..log import get_logger
from ..markers import PROJECT
from .discovery import Candidate
from .limits import TookTooLong, within

_log = get_logger("registry")

LOAD_LIMIT_S = 5.0
"""How long one plugin's import may take before it is given up."""
HOOK_LIMIT_S = 5.0
"""How long one implementation of a declaring hook may take."""
MAX_ITEMS = 1_000
"""How many items of one answer are read; an endless one must not fill the memory."""
MAX_REASON_CHARS = 400


@frozen(kw_only=True)
class LoadedPlugin:
    """A plugin and what became of it. ``state`` as in ``report.PluginReport``."""

    name: str
    dist: str = ""
    version: str = ""
    state: str = "loaded"
    reason: str = ""
    hooks: tuple[str, ...] = ()


@frozen(kw_only=True)
class Answer:
    """What one plugin's implementation of a hook returned, or why it did not."""

    plugin: str
    value: Any = None
    problem: str = ""


def describe(exc: BaseException) -> str:
    """An exception in one line, for a reader who has not seen the traceback."""
    try:
        text = "; ".join(line.strip() for line in tellable(exc).splitlines() if line.strip())
    except BaseException:  # a plugin's exception may fail to print itself, in any way
        text = ""
    if len(text) > MAX_REASON_CHARS:
        text = text[:MAX_REASON_CHARS] + "..."
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__


def _walk(plugin: object) -> None:
    """Look at every attribute, as registering does: those of an object may run code, and hang."""
    for name in dir(plugin):
        getattr(plugin, name, None)


class Manager:
    """The plugins of one ``Webfetch``: which were loaded, and what they answer."""

    def __init__(
        self, *, strict: bool = False, load_limit_s: float = LOAD_LIMIT_S, hook_limit_s: float = HOOK_LIMIT_S
    ) -> None:
        self._pm = pluggy.PluginManager(PROJECT)
        self._pm.add_hookspecs(hookspecs)
        self._strict = strict
        self._load_limit_s = load_limit_s
        self.hook_limit_s = hook_limit_s
        self._plugins: dict[str, LoadedPlugin] = {}

    @property
    def plugins(self) -> tuple[LoadedPlugin, ...]:
        """Every plugin met, by name, whatever became of it."""
        return tuple(sorted(self._plugins.values(), key=lambda p: (p.name, p.dist)))

    # ---- loading ------------------------------------------------------------------------------

    def load(
        self, candidates: Iterable[Candidate], allow: Sequence[str] | None, block: Sequence[str]
    ) -> None:
        """Import and register each candidate that is allowed, blocked names excepted.

        The names are compared before anything is imported.
        """
        for candidate in candidates:
            known = LoadedPlugin(name=candidate.name, dist=candidate.dist, version=candidate.version)
            if candidate.name in block:
                self._note(evolve(known, state="blocked", reason="blocked by settings"))
            elif allow is not None and candidate.name not in allow:
                self._note(evolve(known, state="blocked", reason="not among the allowed plugins"))
            elif candidate.problem or candidate.entry_point is None:
                self._note(evolve(known, state="incompatible", reason=candidate.problem or "no entry point"))
            else:
                self._load_one(candidate, known)

    def _load_one(self, candidate: Candidate, known: LoadedPlugin) -> None:
        assert candidate.entry_point is not None
        try:
            plugin = within(self._load_limit_s, candidate.entry_point.load, f"load-{candidate.name}")
        except KeyboardInterrupt:
            raise
        except TookTooLong as exc:
            self._fail(known, f"importing it {exc}", exc)
        except BaseException as exc:  # SystemExit and the like: a plugin must not end the host
            self._fail(known, f"importing it failed: {describe(exc)}", exc)
        else:
            self.register(plugin, known)

    def register(self, plugin: object, known: LoadedPlugin) -> None:
        """Register a plugin object: all of its hooks or none of them."""
        name = known.name
        if self._pm.has_plugin(name):
            error = ValueError(f"a plugin named {name!r} is registered already")
            self._fail(known, f"registering it failed: {describe(error)}", error)
            return
        try:
            within(self._load_limit_s, lambda: _walk(plugin), f"register-{name}")
            self._pm.register(plugin, name=name)
            callers = self._pm.get_hookcallers(plugin) or []
            unknown = [c.name for c in callers if not c.has_spec()]
            wrapped = [
                impl.function.__name__
                for c in callers
                for impl in c.get_hookimpls()
                if impl.plugin_name == name and (impl.wrapper or impl.hookwrapper)
            ]
            if wrapped:
                raise TypeError(f"hook wrappers are not supported: {', '.join(wrapped)}")
            if not callers:
                raise TypeError("it implements no webfetch hook (is @hookimpl missing?)")
        except KeyboardInterrupt:
            raise
        except BaseException as exc:
            if self._pm.has_plugin(name):
                self._pm.unregister(name=name)
            told = str(exc) if isinstance(exc, TookTooLong) else f"failed: {describe(exc)}"
            self._fail(known, f"registering it {told}", exc)
            return
        hooks = tuple(sorted(c.name for c in callers if c.has_spec()))
        reason = (
            f"unknown hook {', '.join(sorted(unknown))}: a typo, or it needs a newer core" if unknown else ""
        )
        self._note(evolve(known, hooks=hooks, reason=reason))

    def _fail(self, known: LoadedPlugin, reason: str, exc: BaseException) -> None:
        if self._strict:
            raise exc
        _log.warning("plugin.failed", plugin=known.name, dist=known.dist, reason=reason)
        self._note(evolve(known, state="failed", reason=reason))

    def _note(self, plugin: LoadedPlugin) -> None:
        key = plugin.name if plugin.name not in self._plugins else f"{plugin.name} ({plugin.dist})"
        self._plugins[key] = plugin

    def mark_failed(self, name: str, reason: str) -> None:
        """Remember that a loaded plugin failed later, when it was asked."""
        plugin = self._plugins.get(name)
        if plugin is not None:
            self._plugins[name] = evolve(plugin, state="failed", reason=reason)

    def get(self, name: str) -> LoadedPlugin | None:
        """The plugin of that name, whatever became of it."""
        return self._plugins.get(name)

    # ---- asking -------------------------------------------------------------------------------

    def ask_each(self, hook: str, **arguments: Any) -> Iterator[Answer]:
        """Ask every implementation on its own, in order of plugin name; none can stop another."""
        impls = sorted(getattr(self._pm.hook, hook).get_hookimpls(), key=lambda impl: impl.plugin_name)
        for impl in impls:
            given = [arguments[name] for name in impl.argnames]

            def ask(function: Any = impl.function, given: list[Any] = given) -> Any:
                value = function(*given)
                # A generator does its work when it is read: read it here, inside the limit.
                lazy = isinstance(value, Iterable) and not isinstance(
                    value, (str, bytes, Mapping, list, tuple)
                )
                return list(islice(value, MAX_ITEMS)) if lazy else value

            try:
                value = within(self.hook_limit_s, ask, f"{impl.plugin_name}-{hook}")
            except KeyboardInterrupt:
                raise
            except BaseException as exc:
                if self._strict:
                    raise
                what = str(exc) if isinstance(exc, TookTooLong) else f"raised {describe(exc)}"
                _log.warning("plugin.failed", plugin=impl.plugin_name, hook=hook, reason=what)
                yield Answer(plugin=impl.plugin_name, problem=f"{hook} {what}")
            else:
                yield Answer(plugin=impl.plugin_name, value=value)

    def observers(self, hook: str) -> tuple[tuple[str, Any], ...]:
        """(plugin, function) of every implementation of an observing or vetoing hook."""
        return tuple(
            (impl.plugin_name, impl.function) for impl in getattr(self._pm.hook, hook).get_hookimpls()
        )


def named(plugin: object) -> tuple[str, Any]:
    """A plugin object's name: given, or from its module: ``webfetch_search_x.plugin`` is ``search_x``."""
    if isinstance(plugin, tuple) and len(plugin) == 2 and isinstance(plugin[0], str):
        return plugin
    name = getattr(plugin, "__name__", None) or type(plugin).__name__
    return str(name).removeprefix("webfetch_").removesuffix(".plugin").replace(".", "_").lower(), plugin
