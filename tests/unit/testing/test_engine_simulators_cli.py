"""``python -m webfetch_core.testing.engines``: what it prints, serves, logs and refuses."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from webfetch_core.testing.engines import NAMES, simulator
from webfetch_core.testing.engines.__main__ import main, settings_lines

COMMAND = [sys.executable, "-m", "webfetch_core.testing.engines"]


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline().strip()]
        assert lines[0].startswith("# "), process.stderr and process.stderr.read()
        lines += [process.stdout.readline().strip() for _ in range(2)]
        yield process, lines
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="no signal asks a process to end there")
def test_it_serves_a_folder_says_how_to_reach_it_and_stops_when_told(tmp_path: Path) -> None:
    (tmp_path / "tide.md").write_text("# Tide gauges\n\nThe gauge drifts.", "utf-8")
    with serving("ddg", "--corpus", str(tmp_path), "--script", "silent-block,ok") as (process, lines):
        base = re.search(r"http://127\.0\.0\.1:\d+", lines[0])
        assert base and lines[1:] == [
            f"WEBFETCH_PLUGINS__SEARCH_DDG__BASE_URL={base[0]}/html/",
            "WEBFETCH_NET__ALLOW_HOSTS=127.0.0.1",
        ]
        replies = []
        for _ in range(2):
            with urllib.request.urlopen(f"{base[0]}/html/?q=gauge", timeout=5) as reply:
                replies.append((reply.status, reply.read().decode()))
        assert [status for status, _ in replies] == [202, 200]
        assert f"{base[0]}/pages/tide.md" in replies[1][1]
        with urllib.request.urlopen(f"{base[0]}/pages/tide.md", timeout=5) as reply:
            assert reply.read().startswith(b"# Tide gauges")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=5)
        assert process.returncode == 0
        assert log.splitlines() == [
            "GET /html/ 'gauge' -> 202 silent_block",
            "GET /html/ 'gauge' -> 200 ok, 1 hits",
        ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["altavista"], "no simulator 'altavista'; there are: "),
        (["ddg", "--coverage", "2"], "coverage is between 0 and 1"),
        (["ddg", "--failures", "nope"], "no fault 'nope' here; there are: "),
        (["ddg", "--corpus", "no-such-folder"], "no-such-folder: no such folder"),
        (["ddg", "--plan", "3"], "ddg has no quota"),
    ],
)
def test_wrong_usage_is_named(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["--port", "0", "ddg"], ["ddg", "--silent-block", "--hang"]])
def test_the_parser_refuses_what_cannot_be(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and "error:" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_every_engine_offers_its_faults_as_options(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    told = capsys.readouterr().out
    assert caught.value.code == 0
    assert all(f"--{fault.replace('_', '-')}" in told for fault in simulator(name).all_faults())


@pytest.mark.parametrize("name", NAMES)
def test_the_settings_name_the_plugin_and_the_key(name: str) -> None:
    with simulator(name)() as engine:
        lines = settings_lines(engine, "a-key" if engine.key_env else None)
        assert f"WEBFETCH_PLUGINS__SEARCH_{name.upper()}__BASE_URL={engine.url(engine.base_path)}" in lines
        assert (f"{engine.key_env}=a-key" in lines) is bool(engine.key_env)
        assert not any("ALLOW_HOSTS" in line for line in lines)
