"""The MCP server in a process of its own, spoken to with the lines of a case."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field
from case_runner import Case, Seen

from webfetch_core.testing import fake_dist

LIMIT_S = 120.0
MORE = 900_000
"""Ids from here on are the adapter's own."""

# An engine that echoes the query as a title, or as its words say; a fetcher of what the case serves, and an
# extractor that only takes the tags out: ours would leave out what is said nine thousand times.
STAGE = """
import json, os, re, time
from pathlib import Path
from webfetch_core.api import (
    Blocked, Document, ExtractTraits, FetchTraits, Page, Provider, SearchHit, SearchTraits, hookimpl,
)

class Engine:
    def search(self, request):
        if request.query == "slow":
            time.sleep(30)
        return [SearchHit(url="https://t.example/echo", title=request.query, snippet=f"On {request.query}.")]

class Fetcher:
    def fetch(self, request):
        served = json.loads(Path(os.environ["CASE_SERVES"]).read_text(encoding="utf-8"))
        for one in served:
            if one["url"] == request.url:
                made = one["body_gen"]
                body = made["prefix"] + made["repeat"] * made["count"] + made["suffix"]
                return Page(url=request.url, final_url=request.url, body=body.encode(), status=one["status"],
                            content_type=one["headers"]["Content-Type"], fetched_by="case")
        raise Blocked("nothing is served here")

@hookimpl
def webfetch_search_engines():
    return [Provider(name="echo", build=lambda settings, context: Engine(), summary="of a case",
                     timeout_s=60.0, traits=SearchTraits(network=False))]

class Extractor:
    def extract(self, page):
        return Document(url=page.url, title="", text=re.sub("<[^>]*>", "\\n", page.body.decode()))

@hookimpl
def webfetch_extractors():
    return [Provider(name="case", build=lambda settings, context: Extractor(), summary="of a case",
                     priority=100, traits=ExtractTraits(content_types=("text/html",)))]

@hookimpl
def webfetch_fetchers():
    return [Provider(name="case", build=lambda settings, context: Fetcher(), summary="of a case",
                     priority=100, traits=FetchTraits())]
"""

# Makes a plugin of a case's bare class ``Engine``.
HOOK = """

from webfetch_core.api import Provider as _Provider, SearchTraits as _SearchTraits, hookimpl as _hookimpl

class _Adapted:
    def search(self, request):
        return list(Engine().search(request.query, request.limit))

@_hookimpl
def webfetch_search_engines():
    return [_Provider(name=Engine.name, build=lambda settings, context: _Adapted(), summary="of a case",
                      traits=_SearchTraits(network=False))]
"""


@define
class Session:
    """A server, and every line that it has written, with the time."""

    process: subprocess.Popen[bytes]
    started: float = field(factory=time.monotonic)
    sent: dict[Any, float] = field(factory=dict)
    lines: list[tuple[float, bytes]] = field(factory=list)
    errors: list[bytes] = field(factory=list)

    def play(self, script: str) -> None:
        """Write the lines of a case; ``#sleep N`` waits."""
        for line in script.splitlines():
            if line.startswith("#sleep "):
                time.sleep(float(line.split()[1]))
            elif line.strip():
                self.send(line.encode())

    def send(self, line: bytes) -> None:
        assert self.process.stdin
        try:
            id_ = json.loads(line).get("id")
        except ValueError:
            id_ = None
        if id_ is not None:
            self.sent[id_] = time.monotonic()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def messages(self) -> Iterator[tuple[float, dict[str, Any]]]:
        for at, line in list(self.lines):
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if isinstance(message, dict):
                yield at, message

    def answers(self) -> dict[Any, dict[str, Any]]:
        return {m["id"]: m for _, m in self.messages() if m.get("id") is not None and "method" not in m}

    def seconds(self) -> dict[str, float]:
        """From asking to the answer, by id, as the cases name it. Lines that were written before the server
        was there are asked when it is, which ``initialize_s`` measures."""
        first = next((at for at, m in self.messages() if m.get("id") == 1), None)
        found = {
            f"id{m['id']}_answer_s": at - max(self.sent[m["id"]], first or 0.0)
            for at, m in self.messages()
            if m.get("id") in self.sent and "method" not in m
        }
        return found | ({"initialize_s": first - self.started} if first is not None else {})

    def wait_for(self, ids: set[Any]) -> None:
        """Wait until all of ``ids`` are answered, or the server has ended, or for too long."""
        until = time.monotonic() + LIMIT_S
        while not ids <= set(self.answers()) and time.monotonic() < until and self.process.poll() is None:
            time.sleep(0.01)


def run(case: Case, tmp_path: Path) -> Seen:
    names, environ = _install(case, tmp_path)
    with _session(tmp_path, names, environ) as session:
        session.play(case.text("stdin.jsonl"))
        asked = {id_ for id_ in session.sent if not _cancelled(case, id_)}
        session.wait_for(asked)
        if case.expected["op"] != "cold start":
            # What a plugin does it does when it is used: a call has it loaded, and asked.
            call = {"name": "web_search", "arguments": {"query": "one more"}}
            _ask(session, MORE, "tools/call", call)
        _ask(session, MORE + 1, "ping", {})
        answers = session.answers()
        seconds = session.seconds()
        imported = _imported(b"".join(session.errors).decode("utf-8", "replace"))
    return Seen(
        text=_text(answers),
        measured=seconds | _measured(answers),
        facts={"absent_modules": [m for m in case.expected.get("absent_modules", ()) if m not in imported]},
        invariants={
            "each stdout line parses as JSON-RPC": all(_is_message(line) for _, line in session.lines),
            "ids 2-6 answered": {2, 3, 4, 5, 6} <= set(answers),
            "server alive": "result" in answers.get(MORE + 1, {}),
            "id 2 gets no success result": "result" not in answers.get(2, {}),
        },
    )


def _ask(session: Session, id_: int, method: str, params: Mapping[str, Any]) -> None:
    session.send(json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode())
    session.wait_for({id_})


def _cancelled(case: Case, id_: Any) -> bool:
    return f'"requestId": {json.dumps(id_)}' in case.text("stdin.jsonl")


def _text(answers: Mapping[Any, Mapping[str, Any]]) -> str:
    """The texts of what the case's tools answered."""
    own = [answer.get("result", {}) for id_, answer in answers.items() if id_ != MORE]
    return "\n".join(part["text"] for result in own for part in result.get("content", ()))


def _measured(answers: Mapping[Any, Mapping[str, Any]]) -> dict[str, float]:
    results = [a["result"] for a in answers.values() if "result" in a and "content" in a["result"]]
    return {"result_chars": max((len(json.dumps(r, ensure_ascii=False)) for r in results), default=0)}


def _is_message(line: bytes) -> bool:
    try:
        return json.loads(line).get("jsonrpc") == "2.0"
    except (ValueError, AttributeError):
        return False


def _imported(errors: str) -> set[str]:
    """Top-level modules of ``-X importtime``."""
    return {name.partition(".")[0] for name in re.findall(r"^import time:.*\|\s+(\S+)$", errors, re.M)}


def _install(case: Case, tmp_path: Path) -> tuple[list[str], dict[str, str]]:
    """Make the plugins of a case; return their names and what the environment is to be."""
    site = tmp_path / "site"
    site.mkdir()
    fake_dist(site, "webfetch-echo", entry_points={"echo": "webfetch_echo"}, modules={"webfetch_echo": STAGE})
    names, environ = ["echo"], {}
    for file in sorted(case.folder.glob("*/pyproject.toml")):
        project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        ((name, value),) = project["entry-points"]["wf.engines"].items()
        module = value.partition(":")[0]
        source = (file.parent / f"{module}.py").read_text(encoding="utf-8")
        fake_dist(site, project["name"], entry_points={name: module}, modules={module: source + HOOK})
        names.append(name)
    if (case.folder / "http.json").is_file():
        served = tmp_path / "served.json"
        served.write_text(json.dumps(case.json("http.json")["exchanges"]), encoding="utf-8")
        environ["CASE_SERVES"] = str(served)
    if (case.folder / "env.json").is_file():
        given = case.json("env.json")
        environ |= {k: v for k, v in given.items() if k.isupper()}
        if "network" in given:
            names = []  # every plugin that is installed, models and all
            environ["PYTHONPROFILEIMPORTTIME"] = "1"
    return names, environ


@contextmanager
def _session(tmp_path: Path, names: list[str], environ: Mapping[str, str]) -> Iterator[Session]:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections, and never answers
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        env = {
            **{k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_")},
            "PYTHONPATH": str(tmp_path / "site"),
            "WEBFETCH_HOME": str(tmp_path / "home"),
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
            "CASE_SERVES": os.devnull,
            "HF_ENDPOINT": nowhere,
            "HTTPS_PROXY": nowhere,
            **({"WEBFETCH_PLUGINS": ",".join(["serve_mcp", *names])} if names else {}),
            **environ,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "webfetch_core", "serve", "mcp"],
            env=env,
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        session = Session(process)

        def read() -> None:
            assert process.stdout
            for line in process.stdout:
                session.lines.append((time.monotonic(), line))

        def drain() -> None:
            assert process.stderr
            session.errors.extend(process.stderr)

        threads = [threading.Thread(target=work) for work in (read, drain)]
        for thread in threads:
            thread.start()
        try:
            yield session
        finally:
            process.kill()
            process.wait()
            for thread in threads:
                thread.join()
            for stream in (process.stdin, process.stdout, process.stderr):
                assert stream
                stream.close()
