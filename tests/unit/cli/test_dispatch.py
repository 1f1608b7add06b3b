"""What goes wrong, and how it is told."""

import io
import json
from typing import Any

import pytest

from webfetch_core import errors
from webfetch_core.cli.exit_codes import code_of
from webfetch_core.cli.parser import UsageFault
from webfetch_core.testing import ScriptedEngine, fake_plugin


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageFault("x"), 2),
        (errors.BadQuery("x"), 2),
        (errors.ConfigError("x"), 3),
        (errors.NotConfigured("x"), 3),
        (errors.AllEnginesFailed("x"), 4),
        (errors.PageError("x"), 6),
        (errors.Refused("x"), 6),
        (errors.Unavailable("x"), 6),
        (errors.CacheError("x"), 7),
        (errors.Cancelled("x"), 130),
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
        (ZeroDivisionError(), 1),
        (errors.WebfetchError("x"), 1),
    ],
)
def test_every_kind_of_error_has_its_code(error: BaseException, code: int) -> None:
    assert code_of(error) == code


def test_no_command_shows_them_all(bare_cli: Any) -> None:
    ran = bare_cli()
    assert ran.code == 2
    assert "commands:" in ran.err
    assert ran.err.endswith("webfetch: no command was given\n")


def test_the_version_needs_no_command(bare_cli: Any) -> None:
    assert bare_cli("--version").out.startswith("webfetch ")


def test_help_goes_to_stdout_and_is_no_fault(bare_cli: Any) -> None:
    ran = bare_cli("search", "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "--cache-only" in ran.out


@pytest.mark.parametrize("query", ["", "  ", "?!"])
def test_an_empty_query(cli: Any, query: str) -> None:
    ran = cli("search", query)
    assert ran.code == 2
    assert ran.err == "webfetch: the query is empty\nfix: ask for something, in words\n"


def test_an_unknown_engine_is_named_with_those_there_are(cli: Any) -> None:
    ran = cli("search", "fusion", "--engine", "alhpa")
    assert ran.code == 3
    assert "named 'alhpa' (installed: alpha); did you mean alpha?" in ran.err
    assert "pip install" not in ran.err  # a stranger may publish something under a typo


def test_nothing_to_serve_the_query(bare_cli: Any) -> None:
    ran = bare_cli("search", "fusion")
    assert ran.code == 4
    assert "no search engine is ready" in ran.err
    assert "fix: pip install webfetch-search-ddg" in ran.err


def test_every_engine_is_listed_with_its_own_reason(cli: Any) -> None:
    cli.plugins[0] = fake_plugin("search", ScriptedEngine(errors.Blocked("a CAPTCHA came")), name="alpha")
    cli.plugins.append(fake_plugin("search", ScriptedEngine(errors.Unavailable("no route")), name="beta"))
    ran = cli("search", "fusion", "--json")
    assert ran.code == 4
    assert "  alpha: blocked: a CAPTCHA came\n" in ran.err
    assert "  beta: unavailable: no route\n" in ran.err
    error = json.loads(ran.out)["error"]
    assert (error["kind"], error["exit_code"]) == ("no_engine", 4)
    assert {a["provider"]: a["outcome"] for a in error["attempts"]} == {
        "alpha": "blocked",
        "beta": "unavailable",
    }


def test_a_fault_shows_no_traceback(bare_cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from webfetch_core.app import Webfetch

    monkeypatch.setattr(Webfetch, "status", lambda self: 1 / 0)
    ran = bare_cli("status")
    assert ran.code == 1
    assert ran.err == (
        "webfetch: internal fault: ZeroDivisionError: division by zero (run with --debug for the traceback)\n"
    )
    for told in (bare_cli("--debug", "status"), bare_cli("status", "--debug")):
        assert told.code == 1
        assert "Traceback" in told.err


def test_debug_may_be_set_in_the_environment(bare_cli: Any) -> None:
    bare_cli.environ["WEBFETCH_DEBUG"] = "1"
    assert "Traceback" in bare_cli("search", "").err


def test_debug_logs_to_stderr_and_leaves_logging_as_it_was(cli: Any) -> None:
    import logging

    cli.plugins[0] = fake_plugin("search", ScriptedEngine(ZeroDivisionError("oops")), name="alpha")
    before = (logging.getLogger("webfetch").level, [type(h) for h in logging.getLogger("webfetch").handlers])
    ran = cli("search", "fusion", "--debug")
    assert "provider.raised" in ran.err
    assert "provider=alpha" in ran.err
    assert all(line.count("provider=") <= 1 for line in ran.err.splitlines())
    logger = logging.getLogger("webfetch")
    assert logger.level == before[0]
    assert logging.StreamHandler not in [type(h) for h in logger.handlers]


def test_an_interrupt(bare_cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from webfetch_core.app import Webfetch

    def interrupted(self: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Webfetch, "status", interrupted)
    ran = bare_cli("status")
    assert (ran.code, ran.err) == (130, "webfetch: interrupted\n")


class ClosedPipe(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("words", [("status",), ("--help",), ("search", "fusion")])
def test_a_reader_who_left_is_no_fault(cli: Any, words: tuple[str, ...]) -> None:
    ran = cli(*words, stdout=ClosedPipe())
    assert (ran.code, ran.err) == (141, "")


def test_text_is_written_to_a_console_that_cannot_take_it(cli: Any) -> None:
    url = "https://a.example.org/fusion"
    from webfetch_core.testing import ScriptedFetcher

    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({url: "Fusion “naïve” 字"}), name="p")
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    assert cli("fetch", url, stdout=out).code == 0
    out.flush()
    assert raw.getvalue() == b"Fusion ?na?ve? ?\n"


def test_json_survives_a_console_that_is_not_unicode(cli: Any) -> None:
    from webfetch_core.testing import ScriptedFetcher

    cli.plugins[1] = fake_plugin("fetch", ScriptedFetcher({"https://x.example.org/": "字 é"}), name="p")
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    assert cli("fetch", "https://x.example.org/", "--json", stdout=out).code == 0
    out.flush()
    assert json.loads(raw.getvalue())["text"] == "字 é"
