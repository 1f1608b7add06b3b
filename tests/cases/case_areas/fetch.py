"""Pages over real sockets: encodings, bombs, redirects, robots, walls.

The hosts of a script become names under ``localhost``, which the guard resolves by itself, so that
every absolute URL in it leads to one site on loopback.
"""

from __future__ import annotations

import base64
import io
import json
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from case_runner import Case, Seen

from webfetch_core import Settings, Webfetch
from webfetch_core.cli import main
from webfetch_core.errors import Blocked, WebfetchError
from webfetch_core.pipeline.pages import PageLoader, PagePolicy
from webfetch_core.pipeline.tolerant_store import TolerantStore
from webfetch_core.settings import NetSettings
from webfetch_core.testing import LoopbackSite, ScriptedFetcher, fake_plugin
from webfetch_core.testing.site import Received, Reply

HANG_S = 1.0
"""A request that hangs is given up after this long instead of the default."""


class Replay(LoopbackSite):
    """Answers with the exchanges or rules of one script."""

    def __init__(self, script: dict[str, Any]) -> None:
        super().__init__()
        self.rules = script.get("rules") or script["exchanges"]
        self.sent = 0
        self.last = ""

    def here(self, text: str) -> str:
        return re.sub(r"https?://([a-z0-9.]+\.example)", rf"http://\1.localhost:{self.port}", text)

    def there(self, text: str) -> str:
        return re.sub(rf"http://([a-z0-9.]+\.example)\.localhost:{self.port}", r"https://\1", text)

    def _answer(self, request: Received) -> Reply:
        self.requests.append(request)
        url = f"http://{request.headers['host']}{request.target}"
        self.last = url
        cookies = request.headers.get("cookie", "")
        for rule in self.rules:
            wanted = rule.get("if_cookie", ...)
            fits = wanted is ... or (not cookies if wanted is None else wanted in cookies)
            if fits and self.here(rule.get("match") or rule["url"]) == url:
                return self._reply(rule)
        return Reply(status=404, body=b"no such page")

    def _reply(self, rule: dict[str, Any]) -> Reply:
        if rule.get("hang"):
            return Reply(hang=True)
        headers: dict[str, Any] = {k: self.here(v) for k, v in rule.get("headers", {}).items()}
        headers.pop("Transfer-Encoding", None)
        if made := rule.get("body_gen"):
            return Reply(headers=headers, stream=lambda: self._generated(made))
        if "body_base64" in rule:
            body = base64.b64decode(rule["body_base64"])
        else:
            body = self.here(rule.get("body", "")).encode()
        self.sent += len(body)
        return Reply(status=rule["status"], headers=headers, body=body)

    def _generated(self, made: dict[str, Any]) -> Iterator[bytes]:
        for piece in (
            made["prefix"].encode(),
            *(made["repeat"].encode() * 1_000 for _ in range(made["count"] // 1_000)),
            made["suffix"].encode(),
        ):
            self.sent += len(piece)
            yield piece


def run(case: Case, tmp_path: Path) -> Seen:
    if case.op == "fetch_url":
        return _told(case, tmp_path)
    if not (case.folder / "http.json").is_file():
        raise AssertionError(f"no adapter for {case.op!r} of {case.id}")
    script = case.json("http.json")
    net = NetSettings(allow_hosts=("127.0.0.1", "::1"))
    settings = Settings(home=str(tmp_path / "home"), net=net, extract_workers=0)
    hangs = any(rule.get("hang") for rule in script.get("rules", ()))
    with Replay(script) as site, Webfetch(settings, environ={}) as host:
        text, kind, facts = "", None, {}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        try:
            document = _load(host, site.here(script["request"]["url"]), "autonomous" in case.op, hangs)
            title = "" if document.title in document.text else f"# {document.title}\n\n"
            text = site.there(title + document.text)
            facts = {"final_url": site.there(site.last), "truncated": "truncated" in document.flags}
        except WebfetchError as exc:
            text, kind = str(exc), exc.kind
        took = time.perf_counter() - started
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
        facts["cacheable"] = host.cache().stats()["entries"].get("pages", 0) > 0
        measured = {
            "call_s": took,
            "peak_rss_mb_growth": grown,
            "requests": len(site.requests),
            "bytes_read": site.sent,
        }
    return Seen(text=text, error_kind=kind, measured=measured, facts=facts)


def _load(host: Webfetch, url: str, autonomous: bool, hangs: bool) -> Any:
    seconds = HANG_S if hangs else 8.0
    if not autonomous:
        return host.fetch(url, deadline_s=seconds)
    # As the pipeline asks, for which robots.txt is binding.
    loader = PageLoader(host.host, TolerantStore(host.host.store()))
    return loader.load(
        url, PagePolicy(purpose="search"), scope=host.host.scope("case"), deadline=host.host.deadline(seconds)
    )


def _told(case: Case, tmp_path: Path) -> Seen:
    """A fetcher that gives no text but a verdict, and what ``webfetch fetch`` then tells, in both forms."""
    script = case.json("script.json")
    url, result = script["fetch"], script["result"]
    assert not result["success"] and result["text"] is None, "the adapter knows failed results only"

    def opener(settings: Any) -> Webfetch:
        fetcher = fake_plugin("fetch", ScriptedFetcher({url: Blocked(result["reason"])}))
        return Webfetch(settings, plugins=[(fetcher.name, fetcher)], autoload=False, environ={})

    environ = {"WEBFETCH_HOME": str(tmp_path / "home"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    out, err, codes = io.StringIO(), io.StringIO(), set()
    for words in (["fetch", url], ["fetch", url, "--json"]):
        codes.add(main(words, environ=environ, stdout=out, stderr=err, open_webfetch=opener))
    kind = json.loads(out.getvalue())["error"]["kind"]
    return Seen(
        text=out.getvalue() + err.getvalue(), error_kind=kind if len(codes) == 1 and 0 not in codes else None
    )
