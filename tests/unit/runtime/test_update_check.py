"""Whether a newer version is out: asked once, never failing, and not at all unless it is switched on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from webfetch_core import CancelToken, Settings, Webfetch, __version__
from webfetch_core.api import hookimpl
from webfetch_core.forks import PerProcess
from webfetch_core.runtime import update_check
from webfetch_core.runtime.deadline import SystemClock
from webfetch_core.runtime.update_check import UpdateCheck, is_newer
from webfetch_core.testing import LoopbackService, loopback_http


@pytest.fixture
def index() -> Iterator[Any]:
    with LoopbackService({"info": {"version": "9.1.0"}}) as service:
        yield service


def latest(service: Any, check: UpdateCheck) -> Any:
    clock = SystemClock()
    with loopback_http(clock, trusted=[(service.host, service.port)]) as http:
        return check.latest(http, clock.monotonic() + 5, service.url("/pypi/x/json"))


def test_it_asks_once_and_keeps_the_answer(index: Any) -> None:
    check = UpdateCheck()
    assert [latest(index, check).version for _ in range(3)] == ["9.1.0"] * 3
    assert len(index.requests) == 1


def test_whoever_cancels_spoils_it_for_nobody(index: Any) -> None:
    check, token = UpdateCheck(), CancelToken()
    with token.applied():
        token.cancel()
        latest(index, check)
    assert latest(index, check).version == "9.1.0"


@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        (b"no json", 200, "bad_response"),
        ({"info": {}}, 200, "bad_response: the index does not say"),
        ({"info": {"version": "[fresh search]"}}, 200, "bad_response: the index does not say"),
        ({"info": {"version": 5}}, 200, "bad_response: the index does not say"),
        ([], 200, "bad_response: the index does not say"),
        ({}, 500, "unavailable"),
        ({}, 404, "bad_response"),
    ],
)
def test_what_goes_wrong_is_told_and_not_asked_again(
    index: Any, body: Any, status: int, problem: str
) -> None:
    index.answer(body, status=status)
    check = UpdateCheck()
    for _ in range(2):
        found = latest(index, check)
        assert found.version == ""
        assert found.problem.startswith(problem)
    assert len(index.requests) == 1


@pytest.mark.parametrize(
    ("theirs", "mine", "newer"),
    [
        ("0.1.1", "0.1.0", True),
        ("0.10.0", "0.9.9", True),
        ("1.0", "0.9.9", True),
        ("0.1.0", "0.1.0", False),
        ("0.1", "0.1.0", False),
        ("0.0.9", "0.1.0", False),
        ("0.2.0rc1", "0.1.0", False),
        ("", "0.1.0", False),
        ("9.9.9", "unknown", False),
    ],
)
def test_newer(theirs: str, mine: str, newer: bool) -> None:
    assert is_newer(theirs, mine) is newer


class Vetoes:
    """Forbids every URL and keeps what was asked for: so nothing leaves this machine."""

    def __init__(self) -> None:
        self.urls: list[str] = []

    @hookimpl
    def webfetch_veto_url(self, url: str) -> str | None:
        self.urls.append(url)
        return "not from a test"


@pytest.fixture
def vetoes(monkeypatch: pytest.MonkeyPatch) -> Vetoes:
    monkeypatch.setattr(update_check, "process_wide", PerProcess(UpdateCheck))
    monkeypatch.setattr("webfetch_core.savings.process_wide", update_check.process_wide)
    return Vetoes()


@pytest.mark.parametrize(("on", "asked"), [(False, 0), (True, 1)])
def test_it_is_off_unless_it_is_switched_on(vetoes: Vetoes, on: bool, asked: int) -> None:
    for _ in range(2):
        settings = Settings(update_check=on)
        with Webfetch(settings, plugins=[("vetoes", vetoes)], autoload=False, environ={}) as wf:
            report = wf.savings_report()
        assert report.update == ""
        assert bool(report.update_problem) is on
    assert len(vetoes.urls) == asked
    assert all(url.startswith("https://pypi.org/") for url in vetoes.urls)


def test_a_newer_version_is_one_line_of_the_report(index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check = UpdateCheck()
    assert latest(index, check).version == "9.1.0"
    monkeypatch.setattr("webfetch_core.savings.process_wide", PerProcess(lambda: check))
    with Webfetch(Settings(update_check=True), autoload=False, environ={}) as wf:
        report = wf.savings_report()
    assert report.update == f"webfetch 9.1.0 is out; this is {__version__}"
    assert report.text.splitlines()[-1] == report.update
    assert len(index.requests) == 1
