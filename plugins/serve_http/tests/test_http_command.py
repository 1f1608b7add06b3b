"""``webfetch serve http`` as a process: what it prints, when it refuses, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from webfetch_serve_http.runner import configure, settings_of, url_of
from webfetch_serve_http.settings import HttpSettings

from webfetch_core.api import ConfigError

TOKEN = "a-token-of-these-tests-0123456789"
COMMAND = [sys.executable, "-m", "webfetch_core", "serve", "http"]


def environ(home: Path, **more: str) -> dict[str, str]:
    """An environment in which nothing but the server's own plugin is loaded."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("WEBFETCH_") and "TOKEN" not in k}
    return {**kept, "WEBFETCH_HOME": str(home), "WEBFETCH_PLUGINS": "serve_http", **more}


@contextmanager
def running(
    home: Path, *words: str, files: int = 0, **more: str
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    few = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh"] if files else []
    process = subprocess.Popen(
        [*few, *COMMAND, "--port", "0", *words],
        env=environ(home, **more), cwd=home, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), process.communicate(timeout=60)
        yield process, url
    finally:
        process.kill()
        process.communicate()


def get(url: str, token: str = "") -> tuple[int, bytes]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"} if token else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as exc:
        return exc.code, exc.read()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as (process, url):
        # It listens before the line is written: whoever connects is answered, if a moment later.
        assert json.loads(get(f"{url}/healthz")[1])["status"] == "ok"
        assert get(f"{url}/")[0] == 200
        assert get(f"{url}/api/v1/status")[0] == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert out == "", "stdout has the address and nothing else"
        assert "Traceback" not in err and "stopped serving" in err


@pytest.mark.slow
def test_with_a_token(tmp_path: Path) -> None:
    with running(tmp_path, "--token-env", "MY_TOKEN", MY_TOKEN=TOKEN) as (_, url):
        assert get(f"{url}/healthz")[0] == 200
        assert get(f"{url}/api/v1/status")[0] == 401
        assert get(f"{url}/api/v1/status", TOKEN)[0] == 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_connections_that_ask_nothing_keep_nobody_out(tmp_path: Path) -> None:
    with running(tmp_path, files=160) as (process, url), ExitStack() as stack:
        host, port = url.removeprefix("http://").split(":")
        for number in range(300):
            silent = stack.enter_context(socket.create_connection((host, int(port)), timeout=60))
            if number % 2:
                silent.sendall(b"POST /search HTTP/1.1\r\nHost: ")
        for _ in range(3):
            assert get(f"{url}/healthz")[0] == 200
            assert get(f"{url}/api/v1/status")[0] == 200
        process.terminate()
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0
        assert "Traceback" not in err and len(err.splitlines()) < 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--host", "0.0.0.0"], "WEBFETCH_HTTP_TOKEN"),
        (["--port", "70000"], "port"),
        (["--port", "TAKEN"], "cannot listen"),
        (["--token-env", "ODD_TOKEN"], "at least 16 ASCII characters"),
    ],
)
def test_it_refuses_to_start(tmp_path: Path, words: list[str], told: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = [word.replace("TAKEN", str(taken.getsockname()[1])) for word in words]
        run = subprocess.run(
            [*COMMAND, *words],
            env=environ(tmp_path, ODD_TOKEN="ein-Schlüssel-den-nie-jemand-zeigt"),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert run.returncode not in (0, 1) and run.stdout == ""
    assert "Traceback" not in run.stderr
    assert told in run.stderr


def args(*words: str) -> Any:
    parser = ArgumentParser()
    configure(parser)
    return parser.parse_args(list(words))


def test_flags_win_over_settings() -> None:
    settings = HttpSettings(host="127.0.0.2", port=9, allow_hosts=("a.example",))
    assert settings_of(args(), settings) == settings
    made = settings_of(args("--port", "0", "--allow-host", "b", "--allow-host", "c"), settings)
    assert (made.host, made.port, made.allow_hosts) == ("127.0.0.2", 0, ("b", "c"))
    with pytest.raises(ConfigError, match="port"):
        settings_of(args("--port", "-1"), settings)


def test_addresses_of_both_families() -> None:
    assert url_of(HttpSettings(), 80) == "http://127.0.0.1:80"
    assert url_of(HttpSettings(host="::1"), 80) == "http://[::1]:80"
