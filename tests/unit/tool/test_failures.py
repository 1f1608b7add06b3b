"""Every failure says what happened and what to do, and gives nothing away."""

from __future__ import annotations

import re
from typing import Any

import pytest

from webfetch_core import AllEnginesFailed, BadQuery, errors
from webfetch_core.api import AuthFailed, NotConfigured, PageError, RateLimited, Refused
from webfetch_core.errors import Cancelled, ConfigError, ProviderError, WebfetchError
from webfetch_core.models import Attempt
from webfetch_core.tool.failures import ADVICE, clean, failure_of


def kinds() -> set[str]:
    found = {
        thing.default_kind
        for thing in vars(errors).values()
        if isinstance(thing, type) and issubclass(thing, WebfetchError)
    }
    listed = re.search(r"one of ``(.*?)``", PageError.__doc__ or "", re.DOTALL)
    assert listed
    return found | set(listed[1].split())


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_every_kind_of_error_comes_with_advice(kind: str) -> None:
    failure = failure_of("fetch_url", ProviderError("it went wrong", kind=kind))
    assert failure.lines[0] == f"[failed: {kind}] fetch_url: it went wrong"
    assert failure.advice == ADVICE[kind] and failure.advice.endswith(".")
    assert failure.lines[1] == f"What to do: {failure.advice}"


def test_kinds_are_not_lumped_together() -> None:
    assert kinds() <= set(ADVICE)
    own = [advice for kind, advice in ADVICE.items() if kind in kinds()]
    assert len(set(own)) == len(own)


def test_a_kind_that_nobody_knows() -> None:
    failure = failure_of("fetch_url", ProviderError("odd", kind="[note: new]"))
    assert failure.lines[0] == "[failed: (note: new)] fetch_url: odd" and failure.advice == ADVICE["error"]


def attempt(provider: str, outcome: str, reason: str) -> Attempt:
    return Attempt(stage="search", provider=provider, outcome=outcome, reason=reason)


def test_engines_are_told_one_by_one() -> None:
    failure = failure_of(
        "web_search",
        AllEnginesFailed(
            "no engine answered: brave: x; ddg: y",
            [
                attempt("brave", "auth", "the key was refused (check BRAVE_API_KEY)"),
                attempt("ddg", "blocked", "a bot wall"),
            ],
            fix="add an engine",
        ),
    )
    assert failure.lines == [
        "[failed: no_engine] web_search: no engine answered",
        f"What to do: {ADVICE['no_engine']}",
        "- brave: auth: the key was refused (check BRAVE_API_KEY)",
        "- ddg: blocked: a bot wall",
        "For the person who runs webfetch: add an engine",
    ]
    assert failure.plain["error"]["attempts"][1] == {
        "provider": "ddg", "outcome": "blocked", "reason": "a bot wall",
    }  # fmt: skip


def test_engines_that_agree_give_their_kind() -> None:
    """A client that sees a wrong key can say so; that no engine answered tells nobody anything."""
    one = failure_of("web_search", AllEnginesFailed("no engine answered: x", [attempt("a", "auth", "no")]))
    assert one.kind == "auth" and "key" in one.advice
    walled = failure_of(
        "web_search", AllEnginesFailed("no engine answered: x", [attempt("a", "blocked", "")])
    )
    assert walled.kind == "blocked" and walled.advice == ADVICE["no_engine"], "it is no page that is walled"
    none = failure_of("web_search", AllEnginesFailed("no search engine is ready", fix="pip install it"))
    assert none.lines[0] == "[failed: no_engine] web_search: no search engine is ready"


def test_many_engines_are_counted() -> None:
    tried = [attempt(f"e{n}", ("auth", "quota")[n % 2], "no") for n in range(20)]
    lines = failure_of("web_search", AllEnginesFailed("none: x", tried)).lines
    assert lines[-1] == "- and 12 more" and len(lines) == 11


def test_who_can_do_what() -> None:
    bad = failure_of("web_search", BadQuery("the query is empty", fix="ask for something, in words"))
    assert bad.lines == [
        "[failed: bad_query] web_search: the query is empty",
        "What to do: Correct the input and call again: ask for something, in words.",
    ]
    config = failure_of("web_search", ConfigError("search: no such engine", fix="see webfetch plugins"))
    assert config.lines[-1] == "For the person who runs webfetch: see webfetch plugins"
    closed = failure_of("web_search", Cancelled("this Webfetch is closed", fix="make a new one"))
    assert closed.fix == ""
    limited = failure_of("web_search", RateLimited("slow down", retry_after_s=37.2))
    assert limited.advice.endswith("It says to wait for 37 s.")


@pytest.mark.parametrize(
    "exc",
    [
        RuntimeError("cannot open /srv/someone/keys/secret.txt"),
        SystemExit("sk-live-0123456789"),
        KeyError("/etc/passwd"),
        GeneratorExit(),
        type("Evil", (Exception,), {"__str__": lambda self: 1 / 0})(),
    ],
)
def test_what_is_no_error_of_ours_is_told_by_its_type_alone(exc: BaseException) -> None:
    told = "\n".join(failure_of("status", exc).lines)
    assert f"an internal fault ({type(exc).__name__})" in told
    assert not re.search("someone|secret|sk-live|passwd", told)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("cannot open /srv/someone/web/cache.lmdb: full", "cannot open (a path): full"),
        ("cannot open '/srv/some one/cache': full", "cannot open (a path): full"),
        ('cannot open "C:\\Users\\Some One\\cache": full', "cannot open (a path): full"),
        ("cannot open C:\\Users\\someone\\cache now", "cannot open (a path) now"),
        ("cannot open \\\\server\\share\\x now", "cannot open (a path) now"),
        ("see file:///srv/someone/x", "see (a path)"),
        ("~/.local/share/webfetch is read-only", "(a path) is read-only"),
        ("~someone/notes is not there", "(a path) is not there"),
        ("(/var/lib/web/cache)", "((a path))"),
        ("https://a.example/b/c/d.html: 404", "https://a.example/b/c/d.html: 404"),
        ("http://127.0.0.1:8080/a/b and/or TCP/IP", "http://127.0.0.1:8080/a/b and/or TCP/IP"),
        ("local:docs/a/b.md", "local:docs/a/b.md"),
        ("api_key=abcdef123 was refused", "api_key=*** was refused"),
        ("Authorization: Bearer abcdef123456", "Authorization: ***"),
        ("cannot open /sr\u200bv/some\u2060one/cache", "cannot open (a path)"),
        ("api_\u200bkey=abcdef123 was refused", "api_key=*** was refused"),
        ("two\nlines [note: x]", "two lines (note: x]"),
        ("pip install 'webfetch[browser]'", "pip install 'webfetch[browser]'"),
    ],
)
def test_paths_and_secrets_are_struck_and_addresses_are_not(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_known_secrets_are_struck_however_they_are_written() -> None:
    secrets = ("tvly-SECRET-0042",)
    exc = AuthFailed("it said: tvly-SECRET-0042", fix="tvly%2DSECRET-0042 is wrong")
    told = "\n".join(failure_of("web_search", exc, secrets).lines)
    assert "SECRET" not in told and "***" in told
    tried = [attempt("tavily", "auth", "key tvly-secret-0042 was refused")]
    assert "0042" not in "\n".join(failure_of("web_search", AllEnginesFailed("x", tried), secrets).lines)


@pytest.mark.parametrize("make", [Refused, NotConfigured, PageError, RateLimited])
def test_long_messages_are_cut(make: Any) -> None:
    failure = failure_of("fetch_url", make("word " * 5_000, fix="fix " * 5_000))
    assert len("\n".join(failure.lines)) < 1_800
