"""``webfetch serve``: which plugin is loaded, what it is given, and whose stdout it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.cli import parser
from webfetch_core.testing import fake_dist

SERVER = """
    import os, subprocess, sys
    from attrs import frozen
    from webfetch_core.api import ConfigError, Server, hookimpl

    print("serve_greet is imported")

    @frozen(kw_only=True)
    class Settings:
        greeting: str = "hello"

    def configure(parser):
        parser.add_argument("--fail", default="")

    def run(args, context):
        if args.fail == "other":
            context.note(f"{context.server('gopher')} {context.server('nobody')}")
            found, settings = context.server("greet")
            context.note(f"{found.name} {settings.greeting} {found.mount('wf', settings)}")
            return 0
        if args.fail == "config":
            raise ConfigError("no good", fix="do better")
        if args.fail:
            return {"exit": sys.exit, "code": lambda: 999}[args.fail]()
        seen = [name for name in sys.modules if name.startswith("webfetch_") and "_bystander" in name]
        with context.open() as wf:
            loaded = [p.name for p in wf.plugins() if p.state == "loaded"]
        print("printed"); os.write(1, b"written\\n"); subprocess.run(["echo", "echoed"])
        told = f"{context.settings.greeting} {args.json} {seen} {sorted(loaded)} {sys.stdin.read()!r}"
        context.stdout.write(told.encode() + b" " + context.stdin.read())
        context.stdout.flush()
        context.note("noted")
        return 5

    @hookimpl
    def webfetch_servers():
        return [Server(name="greet", summary="say hello", configure=configure, run=run, settings=Settings,
                       mount=lambda wf, settings: f"{wf} mounted")]
"""
BYSTANDER = """
    from webfetch_core.api import hookimpl

    @hookimpl
    def webfetch_health_checks():
        return []
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    fake_dist(
        folder,
        "webfetch-serve-greet",
        entry_points={"serve_greet": "webfetch_serve_greet"},
        modules={"webfetch_serve_greet": SERVER},
    )
    fake_dist(
        folder,
        "webfetch-bystander",
        entry_points={"bystander": "webfetch_bystander"},
        modules={"webfetch_bystander": BYSTANDER},
    )
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_stdout_is_the_servers_alone_and_other_plugins_come_when_it_opens(site: Path, tmp_path: Path) -> None:
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from webfetch_core.cli import console; console()"
    run = subprocess.run(
        [sys.executable, "-c", code, "serve", "greet", "--set", "plugins.serve_greet.greeting=hei", "--set",
         "allow_plugins=serve_greet,bystander"],
        check=False,
        input=b"protocol",
        capture_output=True,
        timeout=120,
        cwd=tmp_path,
    )  # fmt: skip
    assert run.returncode == 5, run.stderr
    assert run.stdout == b"hei False [] ['bystander', 'serve_greet'] '' protocol"
    for told in (b"serve_greet is imported", b"printed", b"written", b"echoed", b"noted"):
        assert told in run.stderr


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--fail=config", 3)])
def test_help_and_errors_are_told_where_every_command_tells_them(
    site: Path, tmp_path: Path, word: str, code: int
) -> None:
    call = f"import sys; sys.path.insert(0, {str(site)!r}); from webfetch_core.cli import console; console()"
    run = subprocess.run(
        [sys.executable, "-c", call, "serve", "greet", word, "--json"],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )
    assert run.returncode == code
    assert run.stdout.startswith("usage: webfetch serve greet" if code == 0 else '{\n  "schema_version"')
    assert "serve_greet is imported" in run.stderr


def test_its_help_usage_and_settings_are_its_own(site: Path, bare_cli: Any) -> None:
    assert "--fail FAIL" in bare_cli("serve", "greet", "--help").out
    ran = bare_cli("serve", "greet", "--fial", "x")
    assert (ran.code, "did you mean --fail?" in ran.err) == (2, True)
    ran = bare_cli("serve", "greet", "--set", "plugins.serve_greet.greting=x")
    assert (ran.code, "plugins.serve_greet.greting" in ran.err) == (3, True)
    ran = bare_cli("serve", "greet", "--fail", "config")
    assert (ran.code, ran.err) == (3, "webfetch: no good\nfix: do better\n")


@pytest.mark.parametrize("how", ["exit", "code"])
def test_what_it_does_not_foresee_is_a_fault_of_the_plugin(site: Path, bare_cli: Any, how: str) -> None:
    ran = bare_cli("serve", "greet", "--fail", how)
    assert ran.code == 1
    assert "the server greet of the plugin serve_greet failed" in ran.err


def test_a_blocked_plugin_and_an_unknown_server(site: Path, bare_cli: Any) -> None:
    ran = bare_cli("serve", "grete")
    assert (ran.code, "did you mean greet?" in ran.err) == (2, True)
    ran = bare_cli("serve", "gopher")
    assert ran.code == 2
    assert "the servers are greet, http, mcp" in ran.err
    bare_cli.environ["WEBFETCH_BLOCK"] = "serve_greet"
    ran = bare_cli("serve", "greet")
    assert (ran.code, "is blocked: blocked by settings" in ran.err) == (3, True)


@pytest.mark.parametrize("name", list(parser.SERVERS))
def test_a_well_known_server_says_what_to_install(
    bare_cli: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webfetch_core.cli.serve.discover", lambda version: ())
    ran = bare_cli("serve", name)
    assert ran.code == 2
    assert f"needs the plugin serve_{name}\nfix: pip install webfetch-serve-{name} (with uvx" in ran.err


def test_without_a_name_or_with_a_wrong_one_the_servers_are_told(bare_cli: Any) -> None:
    ran = bare_cli("serve")
    assert ran.code == 2
    assert "mcp" in ran.err
    assert "mcp" in bare_cli("serve", "--help").out


def test_a_server_can_mount_another_one(site: Path, bare_cli: Any) -> None:
    fake_dist(site, "webfetch-serve-gopher", entry_points={"serve_gopher": "webfetch_serve_greet"})
    bare_cli.environ["WEBFETCH_BLOCK"] = "serve_gopher"
    ran = bare_cli("serve", "greet", "--fail", "other", "--set", "plugins.serve_greet.greeting=hei")
    assert (ran.code, ran.err) == (0, "None None\ngreet hei wf mounted\n")
    del bare_cli.environ["WEBFETCH_BLOCK"]
    ran = bare_cli("serve", "greet", "--fail", "other")
    assert (ran.code, "gives no server 'gopher'" in ran.err) == (3, True)
