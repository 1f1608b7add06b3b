"""A server in a process of its own, over a stage: an engine, a fetcher and a cache that do what files say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from attrs import field, frozen
from mcp import StdioServerParameters

from webfetch_core.testing import fake_dist

LIMIT_S = 150.0
"""However busy the machine is. Nothing waits for it where all is well."""

STAGE = """
import os, subprocess, sys, time
from pathlib import Path

def noise(what):
    print("print:", what, "\\u26f4")
    sys.__stdout__.write("stdout: noise\\n"); sys.__stdout__.flush()
    os.write(1, b"write: noise\\n")
    subprocess.run([sys.executable, "-c", "print('child: noise')"])

HERE = Path(os.environ["STAGE"])

def wait_for(name):
    (HERE / f"reached-{name}").touch()
    until = time.monotonic() + 60
    while not (HERE / name).exists() and time.monotonic() < until:
        time.sleep(0.01)

if os.environ.get("STAGE_NOISE"):
    noise("import")
if os.environ.get("STAGE_HANG"):
    wait_for("go")

from webfetch_core.api import EnvKey, ExtractTraits, FetchTraits, Provider, SearchHit, SearchTraits, hookimpl
from webfetch_core.testing import MemoryCache, ScriptedExtractor, ScriptedFetcher

PAGES = {
    "https://stage.example/east": "\\u6e21\\u3057\\u8239\\u306f\\u6bce\\u65e5\\u4e8c\\u56de\\u51fa\\u307e\\u3059\\u3002" * 6_000,
    "https://stage.example/long": "The ferry leaves twice a day from the pier.\\n" * 9_000,
    "https://stage.example/ferry": "The ferry over the sound leaves at 7:40 and at 16:10.",
}

class Engine:
    def search(self, request):
        if os.environ.get("STAGE_NOISE"):
            noise("search")
        word = request.query.split()[0]
        if word.startswith("slow"):
            wait_for(word)
        if word == "broken":
            raise RuntimeError("the engine broke")
        return [SearchHit(url="https://stage.example/ferry", title=request.query, snippet=request.query)]

    def close(self):
        (HERE / "closed").touch()

class Fetcher(ScriptedFetcher):
    # Starts a process of its own, as a browser would be, and ends it when it is closed.

    child = None

    def fetch(self, request):
        if Fetcher.child is None:
            waits = [sys.executable, "-c", "import sys; sys.stdin.read()"]
            Fetcher.child = subprocess.Popen(waits, stdin=subprocess.PIPE)
        return super().fetch(request)

    def close(self):
        super().close()
        if Fetcher.child is not None:
            Fetcher.child.kill()
            Fetcher.child.wait()

@hookimpl
def webfetch_search_engines():
    return [Provider(name="stage", build=lambda s, c: Engine(), summary="x", timeout_s=60.0,
                     max_concurrency=40, traits=SearchTraits(network=False))]

@hookimpl
def webfetch_fetchers():
    return [Provider(name="stage", build=lambda s, c: Fetcher(PAGES, "text/plain; charset=utf-8"), summary="x",
                     traits=FetchTraits(), max_concurrency=40)]

@hookimpl
def webfetch_extractors():
    return [Provider(name="stage", build=lambda s, c: ScriptedExtractor(), summary="x",
                     traits=ExtractTraits(content_types=("*/*",)))]

@hookimpl
def webfetch_caches():
    if os.environ.get("STAGE_CACHE"):
        return [Provider(name="stage", build=lambda s, c: MemoryCache(), summary="x")]
    return []
"""  # noqa: E501

HELLO = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@frozen
class Stage:
    """Starts servers over the stage."""

    folder: Path
    environ: dict[str, str] = field(factory=dict)

    def command(self, *words: str, files: int = 0) -> list[str]:
        few = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"] if files else []
        return [*few, sys.executable, "-m", "webfetch_core", "serve", "mcp", *words]

    def env(self, **more: str) -> dict[str, str]:
        found = {
            **os.environ,
            "PYTHONPATH": str(self.folder / "site"),
            "WEBFETCH_HOME": str(self.folder / "home"),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "WEBFETCH_PLUGINS": "serve_mcp,stage",
            "STAGE": str(self.folder),
            **self.environ,
            **more,
        }
        return {key: value for key, value in found.items() if value}

    def parameters(self, *words: str, **more: str) -> StdioServerParameters:
        command, *args = self.command(*words)
        return StdioServerParameters(
            command=command, args=args, env=self.env(**more), cwd=str(self.folder / "work")
        )

    def release(self, name: str) -> None:
        (self.folder / name).touch()

    async def reached(self, name: str) -> None:
        """Wait until the stage waits for ``name``."""
        while not (self.folder / f"reached-{name}").exists():
            await anyio.sleep(0.01)


class Raw:
    """A server that is spoken to in bytes."""

    def __init__(self, stage: Stage, *words: str, files: int = 0, **more: str) -> None:
        self.process = subprocess.Popen(
            stage.command(*words, files=files),
            env=stage.env(**more),
            cwd=stage.folder / "work",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._end = threading.Timer(LIMIT_S, self.process.kill)
        self._end.start()
        self._errors: list[bytes] = []
        self._reader = threading.Thread(target=self._drain, daemon=True)
        self._reader.start()

    def _drain(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._errors.append(line)

    @property
    def errors(self) -> str:
        return b"".join(self._errors).decode()

    def send(self, *messages: Any) -> None:
        """Write messages, or bytes as they are, each as a line."""
        assert self.process.stdin
        for message in messages:
            data = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line, which must be a message."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, f"the server has ended: {self.errors}"
        message: dict[str, Any] = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def answer(self, id_: Any) -> dict[str, Any]:
        """The answer to a request; notifications before it are passed over."""
        while (message := self.read()).get("id", self) != id_ or "method" in message:
            assert "method" in message, f"another answer: {message}"
        return message

    def ask(self, id_: Any, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and read its answer."""
        self.send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return self.answer(id_)

    def call(self, id_: Any, tool: str, **arguments: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.ask(id_, "tools/call", name=tool, arguments=arguments)["result"]
        return result

    def rest(self) -> list[dict[str, Any]]:
        """What it wrote after the last answer, when it has ended: notes of changes may be among it."""
        assert self.process.stdout
        return [json.loads(line) for line in self.process.stdout.read().splitlines()]

    def begin(self) -> None:
        """The handshake of the older era."""
        self.send(HELLO)
        assert self.answer("hello")["result"]["protocolVersion"] == "2025-06-18"
        self.send(READY)

    def end(self) -> int:
        """Close stdin and wait for the end."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        return code

    def close(self) -> None:
        self._end.cancel()
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream:
                with suppress(BrokenPipeError):
                    stream.close()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    for name in ("site", "work", "config"):
        (tmp_path / name).mkdir()
    fake_dist(
        tmp_path / "site",
        "webfetch-stage",
        entry_points={"stage": "webfetch_stage"},
        modules={"webfetch_stage": STAGE},
    )
    return Stage(tmp_path)


@pytest.fixture
def raw(stage: Stage) -> Iterator[Callable[..., Raw]]:
    made: list[Raw] = []

    def start(*words: str, **more: str) -> Raw:
        made.append(Raw(stage, *words, **more))
        return made[-1]

    yield start
    for server in made:
        server.close()


@pytest.fixture
def run() -> Callable[[Callable[[], Awaitable[None]]], None]:
    """Runs an asynchronous test, within the limit."""

    def within(work: Callable[[], Awaitable[None]]) -> None:
        async def limited() -> None:
            with anyio.fail_after(LIMIT_S):
                await work()

        anyio.run(limited)

    return within
