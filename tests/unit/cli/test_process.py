"""The console script: ``.env``, and real processes."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.cli.process import environment, parse_dotenv


def read(text: str) -> dict[str, str]:
    return {name: value for _, name, value in parse_dotenv(text) if name is not None}


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("A=b", "b"),
        (" export A = b ", "b"),
        ("A=b # a comment", "b"),
        ("A=b#c", "b#c"),
        ("A=", ""),
        ("A=# a comment", ""),
        ("A='b # c'", "b # c"),
        ("A='b' # c", "b"),
        (r"A='b\n'", r"b\n"),
        (r'A="b\n\"c\" \\"', 'b\n"c" \\'),
        ("A=b c", "b c"),
        ("A=$HOME", "$HOME"),
        ("A=b=c", "b=c"),
    ],
)
def test_one_line(line: str, value: str) -> None:
    assert read(line) == {"A": value}


@pytest.mark.parametrize("line", ["A", "=b", "1A=b", "A-B=c", "A='b", 'A="b', "A='b' c"])
def test_what_is_no_line_is_told_with_its_number(line: str) -> None:
    assert list(parse_dotenv(f"# first\n\n{line}")) == [(3, None, "")]


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    for number, name, _ in parse_dotenv(text):
        assert number >= 1
        assert name is None or name.isidentifier()


def test_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("WEBFETCH_LIMIT=3\nWEBFETCH_NEW=4\n")
    monkeypatch.setenv("WEBFETCH_LIMIT", "5")
    told = io.StringIO()
    read = environment(told, tmp_path)
    assert (read["WEBFETCH_LIMIT"], read["WEBFETCH_NEW"], told.getvalue()) == ("5", "4", "")
    assert "WEBFETCH_NEW" not in os.environ


def test_what_acts_on_any_program_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "LD_PRELOAD",
        "DYLD_INSERT_LIBRARIES",
        "WEBFETCH_NET__ALLOW_HOSTS",
        "WEBFETCH_PLUGINS__SERVE_HTTP__HOST",
        "WEBFETCH_PLUGINS__RANK_ONNX__CROSSENCODER",
        "WEBFETCH_CONFIG",
        "WEBFETCH_PLUGINS__SEARCH_BRAVE__BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
        (tmp_path / ".env").write_text(f"{name}=/evil\n")
        told = io.StringIO()
        assert name not in environment(told, tmp_path)
        assert f"{name} is not taken from .env" in told.getvalue()


def test_a_file_that_is_no_text_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00")
    told = io.StringIO()
    assert environment(told, tmp_path) == dict(os.environ)
    assert "cannot be read" in told.getvalue()


# ---- real processes ------------------------------------------------------------------------------


def run(cwd: Path, *words: str, code: int = 0, **environ: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "webfetch_core", *words],
        check=False,
        cwd=cwd,
        env={**os.environ, "WEBFETCH_HOME": str(cwd / "home"), "WEBFETCH_PLUGINS": "", **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    return done


def test_a_process_reads_the_dotenv_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("WEBFETCH_LIMIT=7\nnonsense\n")
    done = run(tmp_path, "status", "--json")
    rows = {row["key"]: row for row in json.loads(done.stdout)["settings"]}
    assert rows["limit"] == {"key": "limit", "value": 7, "origin": "env WEBFETCH_LIMIT"}
    assert ".env:2 is not NAME=VALUE" in done.stderr


def test_a_process_ends_with_the_documented_code(tmp_path: Path) -> None:
    done = run(tmp_path, "search", "fusion", code=4)
    assert done.stderr.startswith("webfetch: no search engine is ready\nfix: pip install")
    assert run(tmp_path, "cache", "list", code=7).stdout == ""


def test_a_reader_that_leaves_is_met_in_silence(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "webfetch_core", "status", "--all"],
        cwd=tmp_path,
        env={**os.environ, "WEBFETCH_HOME": str(tmp_path / "home"), "WEBFETCH_PLUGINS": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), told) == (141, b"")


def test_a_process_with_a_hung_plugin_ends_at_once(tmp_path: Path) -> None:
    """A thread that was left behind, and one that is no daemon, must not hold up the exit."""
    code = """
        import threading, time
        from webfetch_core.cli.process import leave
        threading.Thread(target=time.sleep, args=(60,)).start()
        print("done")
        leave(5)
    """
    source = "\n".join(line.strip() for line in code.strip().splitlines())
    done = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout) == (5, "done\n")


HEAVY = (
    "typing",
    "pathlib",
    "structlog",
    "requests",
    "cattrs",
    "numpy",
    "lxml",
    "trafilatura",
    "pluggy",
    "webfetch_core.app",
)


@pytest.mark.parametrize("words", ["--help", "--version", "search --help"])
def test_help_loads_nothing_heavy_and_no_plugin(tmp_path: Path, words: str) -> None:
    source = (
        "import sys; from webfetch_core.cli import main; "
        f"code = main({words.split()!r}); print(code, sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], check=False, capture_output=True, text=True, timeout=20, cwd=tmp_path
    )
    code, _, modules = done.stdout.splitlines()[-1].partition(" ")
    assert code == "0"
    loaded = {name for name in HEAVY if f"'{name}'" in modules}
    assert not loaded
    assert "webfetch_search" not in modules


# ---- standard streams that are not there, and folders that are gone ----

POSIX = pytest.mark.skipif(os.name != "posix", reason="a POSIX shell is needed")


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    command = line.replace("webfetch", f"{sys.executable} -m webfetch_core", 1)
    environ = {**os.environ, "WEBFETCH_HOME": str(cwd / "home"), "WEBFETCH_PLUGINS": ""}
    return subprocess.run(
        ["sh", "-c", command], check=False, cwd=cwd, env=environ, capture_output=True, timeout=60
    )


@POSIX
@pytest.mark.parametrize("closing", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("words", "code"), [("status", 0), ("search ''", 2), ("status --set limit=0", 3)])
def test_closed_streams_change_no_exit_code(tmp_path: Path, closing: str, words: str, code: int) -> None:
    done = shell(f"webfetch {words} {closing}", tmp_path)
    assert done.returncode == code, done.stderr
    assert b"internal fault" not in done.stderr


@POSIX
def test_no_file_takes_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    source = (
        "from webfetch_core.cli.process import prepare_streams; prepare_streams(); import os; "
        "fd = os.open('mine', os.O_CREAT | os.O_WRONLY); os.write(fd, str(fd).encode())"
    )
    (tmp_path / "source.py").write_text(source)
    shell_line = f"{sys.executable} source.py <&- >&- 2>&-"
    subprocess.run(["sh", "-c", shell_line], check=True, cwd=tmp_path, timeout=20)
    assert int((tmp_path / "mine").read_text()) > 2


@POSIX
def test_a_folder_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    done = shell("cd gone && rmdir ../gone; webfetch status", tmp_path)
    assert (done.returncode, b"internal fault" in done.stderr) == (0, False), done.stderr


def test_what_plugins_print_goes_to_stderr(tmp_path: Path) -> None:
    source = (
        "import sys; sys.argv = ['webfetch', 'status', '--json']\n"
        "import webfetch_core.app as app\n"
        "made = app.Webfetch.status\n"
        "app.Webfetch.status = lambda self: print('noise of a plugin') or made(self)\n"
        "from webfetch_core.cli import console\n"
        "console()\n"
    )
    environ = {**os.environ, "WEBFETCH_HOME": str(tmp_path / "home"), "WEBFETCH_PLUGINS": ""}
    done = subprocess.run(
        [sys.executable, "-c", source], check=True, cwd=tmp_path, env=environ, capture_output=True, timeout=60
    )
    assert json.loads(done.stdout)["schema_version"] == 1
    assert b"noise of a plugin" in done.stderr
