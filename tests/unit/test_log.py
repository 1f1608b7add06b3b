"""Nothing is printed, nothing is configured, and a log line never fails whoever writes it."""

from __future__ import annotations

import logging
import subprocess
import sys
from typing import Any

import pytest

from webfetch_core.log import get_logger


def test_an_unconfigured_host_sees_nothing() -> None:
    code = (
        "from webfetch_core.log import get_logger\n"
        "log = get_logger('x', provider='p')\n"
        "log.warning('it happened', reason='because'); log.error('worse'); log.info('less')\n"
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    log.exception('caught')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert (ran.stdout, ran.stderr) == ("", "")


def test_making_a_logger_imports_nothing_and_touches_no_configuration() -> None:
    code = (
        "import logging, sys\n"
        "from webfetch_core.log import get_logger\n"
        "log = get_logger('x')\n"
        "assert 'structlog' not in sys.modules\n"
        "before = (logging.root.level, list(logging.root.handlers))\n"
        "log.warning('now')\n"
        "assert 'structlog' in sys.modules\n"
        "import structlog\n"
        "assert not structlog.is_configured()\n"
        "assert (logging.root.level, list(logging.root.handlers)) == before\n"
        "assert len(logging.getLogger('webfetch').handlers) == 1\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)


def test_lines_reach_a_host_that_listens_with_their_facts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="webfetch"):
        get_logger("host", provider="ddg").info("call.finished", outcome="ok", count=3)
    (record,) = caplog.records
    assert record.name == "webfetch.host"
    assert "call.finished" in record.getMessage()
    assert all(fact in record.getMessage() for fact in ("provider=ddg", "outcome=ok", "count=3"))
    assert (record.outcome, record.count) == ("ok", 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    [
        "name",
        "msg",
        "args",
        "message",
        "module",
        "filename",
        "lineno",
        "asctime",
        "thread",
        "process",
        "level",
    ],
)
def test_no_fact_has_a_name_that_fails(caplog: pytest.LogCaptureFixture, name: str) -> None:
    with caplog.at_level(logging.INFO, logger="webfetch"):
        get_logger("plugin.x").warning("found", **{name: "value"})
    assert f"{name}=value" in caplog.records[0].getMessage()


def test_an_exception_comes_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("bad")
    get_logger("tasks").error("task.failed", task="page", exc_info=error)
    try:
        raise error
    except ValueError:
        get_logger("tasks").exception("again")
    assert [r.exc_info[1] for r in caplog.records if r.exc_info] == [error, error]


def test_levels_are_the_hosts(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="webfetch"):
        get_logger("x").warning("quiet")
    assert caplog.records == []


def test_text_with_percent_signs_is_text(caplog: pytest.LogCaptureFixture) -> None:
    get_logger("x").warning("100% of %s", url="https://a.example/%20?x=%s")
    assert "100% of %s" in caplog.records[0].getMessage()
    assert "%20?x=%s" in caplog.records[0].getMessage()


def test_what_a_page_says_stays_in_its_line_and_does_not_act_on_a_terminal(
    caplog: pytest.LogCaptureFixture,
) -> None:
    said = "two words\n04:00:00 INFO forged\x1b[2J"
    get_logger("x").warning("found", title=said, count=3, none="")
    (record,) = caplog.records
    assert record.getMessage() == f"found title={said!r} count=3 none=''"
    assert record.title == said  # type: ignore[attr-defined]


def test_names_are_under_one_root() -> None:
    assert get_logger("x")._name == "webfetch.x"
    assert get_logger("webfetch.y")._name == "webfetch.y"
    bound: Any = get_logger("x").bind(a=1)
    bound.warning("it works")


def test_it_is_not_mistaken_for_something_else() -> None:
    import copy

    assert copy.copy(get_logger("x")) is not None
    assert not hasattr(get_logger("x"), "__len__")
