"""Checks an installed distribution as a host sees it: ``python -m webfetch_core.testing.check DIST``."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from .. import __version__
from ..app import Webfetch
from ..errors import NotConfigured
from ..markers import GROUP
from ..providers import Provider
from ..registry.catalog import HOOKS
from ..registry.discovery import Candidate, discover
from ..registry.manager import describe
from ..settings import Settings
from . import contracts
from .context import loopback_http

CONTRACTS: dict[str, type[contracts.ProviderContract]] = {
    "search": contracts.SearchEngineContract,
    "fetch": contracts.FetcherContract,
    "extract": contracts.ExtractorContract,
    "rank": contracts.RankerContract,
    "compress": contracts.CompressorContract,
    "cache": contracts.CacheContract,
    "match": contracts.QueryMatcherContract,
    "freshness": contracts.FreshnessClassifierContract,
    "llm": contracts.LLMContract,
}


def check(dist: str, say: Callable[[str], None]) -> list[str]:
    """Return what is wrong with an installed distribution; ``say`` gets what was found in order."""
    wanted = _normal(dist)
    found = [c for c in discover(__version__) if _normal(c.dist) == wanted]
    if not found:
        return [f"{dist}: {_absence(dist)}"]
    problems: list[str] = []
    for candidate in found:
        problems += [f"{candidate.name}: {problem}" for problem in _check_plugin(candidate, say)]
    return problems


def _absence(dist: str) -> str:
    """Why a host would not see ``dist`` at all."""
    try:
        version = importlib.metadata.version(dist)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return f"not installed for {sys.executable}: pip install the project's folder there"
    return (
        f"version {version} is installed and has no entry point in the group {GROUP}: add "
        f'[project.entry-points."{GROUP}"] with NAME = "MODULE" to its pyproject.toml and install it again'
    )


def _check_plugin(candidate: Candidate, say: Callable[[str], None]) -> Iterator[str]:
    if candidate.problem or candidate.entry_point is None:
        yield candidate.problem or "no entry point"
        return
    with TemporaryDirectory() as home:
        settings = Settings(home=home, allow_plugins=(candidate.name,))
        with Webfetch(settings, environ={}) as host:
            (report,) = [p for p in host.plugins() if p.name == candidate.name]
        say(f"{report.name} ({report.dist} {report.version}): {report.state}, {', '.join(report.hooks)}")
        if report.state != "loaded":
            yield report.reason
            return
        if report.reason:
            yield report.reason
        plugin = candidate.entry_point.load()
        for stage, hook in HOOKS.items():
            for provider in getattr(plugin, hook, list)():  # the host has asked it already: it is sound
                say(f"  {stage} {provider.name}: {provider.summary}")
                for problem in _check_provider(stage, plugin, provider, Path(home)):
                    yield f"{provider.name}: {problem}"


def _check_provider(stage: str, plugin: Any, provider: Provider[Any], home: Path) -> Iterator[str]:
    kind = CONTRACTS[stage]
    subject: Any = type("Check", (kind,), {"plugin": plugin, "provider": provider.name})()
    for test, arguments in (
        (subject.test_declares_a_provider, (provider,)),
        (subject.test_declaring_is_repeatable, ()),
        (subject.test_import_is_light_and_leaves_no_trace, ()),
        (subject.test_requirements_answer_for_an_empty_environment, (provider,)),
        (subject.test_settings_have_defaults, (provider,)),
    ):
        yield from _failure(test, *arguments)
    context = subject.make_context(home)
    with loopback_http(context.clock) as http:
        context = context.having(http=http)
        for test in (subject.test_builds_quickly_what_it_declares, subject.test_close_may_be_called_twice):
            yield from _failure(test, provider, context)


def _failure(test: Callable[..., None], *arguments: Any) -> Iterator[str]:
    try:
        test(*arguments)
    except NotConfigured:
        return  # it declines here, which is its right
    except AssertionError as exc:
        yield str(exc).split("\n", 1)[0] or f"{test.__name__} fails"
    except Exception as exc:
        yield describe(exc)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def main(arguments: list[str]) -> int:
    """Check each distribution that is named: 0 if nothing is wrong, 1 if something is, 2 for bad usage."""
    if not arguments or any(argument.startswith("-") for argument in arguments):
        print("usage: python -m webfetch_core.testing.check DISTRIBUTION...")
        print("DISTRIBUTION is installed, and named as in its pyproject.toml (webfetch-search-mine).")
        return 0 if arguments in (["-h"], ["--help"]) else 2
    problems = [problem for dist in arguments for problem in check(dist, print)]
    for problem in problems:
        print(f"WRONG: {problem}")
    if not problems:
        print("nothing wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
