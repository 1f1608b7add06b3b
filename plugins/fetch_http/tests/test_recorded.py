"""Recorded inputs of faults in other tools, replayed over real sockets.

Hosts become names under ``localhost``, which the guard resolves by itself, so that every name and
every absolute URL of an input leads to the one loopback site. What a page says is judged by the
extractors' own tests: here it must arrive, or fail as it should.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from webfetch_fetch_http.fetcher import HttpFetcher
from webfetch_fetch_http.settings import FetchHttpSettings

from webfetch_core.api import FetchRequest, WebfetchError
from webfetch_core.testing import LoopbackSite, loopback_http
from webfetch_core.testing.site import Received, Reply

ROOT = Path(__file__).parents[4] / "shared" / "cases"
KINDS = {"fetch", "fetch-quality", "ssrf"}
pytestmark = pytest.mark.skipif(
    not ROOT.is_dir(), reason="the recorded inputs are not beside this repository"
)


def recorded() -> list[str]:
    if not ROOT.is_dir():
        return []
    rows = [json.loads(line) for line in (ROOT / "LOG.jsonl").read_text(encoding="utf-8").splitlines()]
    names = [name for row in rows if row["area"] in KINDS for name in row["inputs"]]
    return [name for name in names if (ROOT / "inputs" / name / "http.json").is_file()]


class RealClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def time(self) -> float:
        return time.time()


class Replay:
    """Serves the exchanges of one input in order, or its rules by their conditions."""

    def __init__(self, script: dict[str, Any], port: int) -> None:
        self.port = port
        self.rules = script.get("rules") or script["exchanges"]
        self.ordered = "exchanges" in script

    def here(self, text: str) -> str:
        return re.sub(r"https?://([a-z.]+\.example)", rf"http://\1.localhost:{self.port}", text)

    def __call__(self, request: Received) -> Reply:
        url = f"http://{request.headers['host']}{request.target}"
        for rule in self.rules:
            cookie = rule.get("if_cookie", ...)
            sent = request.headers.get("cookie", "")
            right = cookie is ... or (not sent if cookie is None else cookie in sent)
            if right and self.here(rule.get("match", rule.get("url", ""))) == url:
                return self.reply(rule)
        return Reply(status=404, body=b"no such page")

    def reply(self, rule: dict[str, Any]) -> Reply:
        if rule.get("hang"):
            return Reply(hang=True)
        headers = {name: self.here(value) for name, value in rule.get("headers", {}).items()}
        headers.pop("Transfer-Encoding", None)
        if made := rule.get("body_gen"):
            return Reply(headers=headers, stream=lambda: generated(made))
        if "body_base64" in rule:
            body = base64.b64decode(rule["body_base64"])
        else:
            body = self.here(rule.get("body", "")).encode()
        return Reply(status=rule["status"], headers=headers, body=body)


def generated(made: dict[str, Any]) -> Iterator[bytes]:
    yield made["prefix"].encode()
    for _ in range(made["count"] // 1000):
        yield made["repeat"].encode() * 1000
    yield made["suffix"].encode()


@pytest.mark.parametrize("case", recorded())
def test_recorded(case: str) -> None:
    folder = ROOT / "inputs" / case
    script = json.loads((folder / "http.json").read_text(encoding="utf-8"))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    purpose = "user" if expected["stage"] != "ssrf" and "autonomous" not in expected["op"] else "search"
    clock = RealClock()
    with LoopbackSite() as site, loopback_http(clock, allow=["127.0.0.1"]) as http:
        replay = Replay(script, site.port)
        start = replay.here(script["request"]["url"])
        for rule in replay.rules:
            parts = urlsplit(rule.get("match", rule.get("url", "")))
            site.add(parts.path or "/", replay)
        site.add("/robots.txt", replay)
        fetcher = HttpFetcher(FetchHttpSettings(), http, clock)
        began = time.monotonic()
        within_s = 0.5 if any(rule.get("hang") for rule in replay.rules) else 6.0
        kind, text, final = None, "", ""
        try:
            page = fetcher.fetch(FetchRequest(url=start, purpose=purpose, deadline=began + within_s))
            text, final = page.body.decode("utf-8", "replace"), page.final_url
        except WebfetchError as exc:
            kind, text = exc.kind, str(exc)
        accepted = [expected.get("error_kind"), *(e.get("error_kind") for e in expected.get("either", []))]
        kinds = {k for one in accepted if one for k in ([one] if isinstance(one, str) else one)} or {None}
        assert kind in kinds, (kind, text)
        if kind is None and expected["stage"] == "fetch":
            decoded = [
                w for w in expected["must_contain"] if w.isascii() and "application" not in page.content_type
            ]
            assert all(word.strip() in text for word in decoded)
        if kind is not None:
            assert not any(word in text for word in expected["must_not_contain"])
            assert all(word in text for word in expected["must_contain"])
        bounds = expected.get("bounds", {})
        assert time.monotonic() - began <= bounds.get("call_s_max", 7)
        assert len(site.requests) <= bounds.get("requests_max", 99)
        if "final_url" in expected:
            assert final == replay.here(expected["final_url"])
