"""What registries and clients read of the MCP server is what the project does, in shapes that they take."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from webfetch_core import TOOLS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "clients" / "claude-code" / ".claude-plugin" / "plugin.json"
BUNDLE = ROOT / "clients" / "mcpb"
MARKER = re.compile(r"mcp-name: (\S+)")
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def read(path: str | Path) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def project(path: str) -> Any:
    return tomllib.loads((ROOT / path / "pyproject.toml").read_text(encoding="utf-8"))["project"]


VERSION = project(".")["version"]
SERVER = read("server.json")
(PACKAGE,) = SERVER["packages"]
CLAUDE = read(PLUGIN)
MANIFEST = read(BUNDLE / "manifest.json")
FOLDERS = {project(f)["name"]: f for f in (".", *(f"plugins/{p.name}" for p in (ROOT / "plugins").iterdir()))}
PAGES = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("plugins/*/*.md"), *ROOT.glob("clients/*.md")]
)
# What is inside of fences and of single backticks.
CODE = re.compile(r"^```\w*\n(.*?)^```|`([^`]+)`", re.DOTALL | re.MULTILINE)


@dataclass
class Command:
    """What a client or a reader types: what is installed for it, the script that is run, and its words."""

    text: str
    asked: list[Requirement]
    script: str | None  # None: the command installs only
    words: list[str]


def registrys_command() -> str:
    """As clients of the registry put it together."""
    named = [word for a in PACKAGE.get("runtimeArguments", ()) for word in (a["name"], a["value"])]
    words = [a["value"] for a in PACKAGE.get("packageArguments", ())]
    return shlex.join(
        [PACKAGE["runtimeHint"], *named, f"{PACKAGE['identifier']}=={PACKAGE['version']}", *words]
    )


def clients_commands(text: str) -> list[str]:
    """The commands in a client's file of servers; none if the text is no such file."""
    if not text.startswith('{"mcpServers"'):
        return []
    return [shlex.join([s["command"], *s.get("args", ())]) for s in json.loads(text)["mcpServers"].values()]


def commands_of(text: str) -> Iterator[Command]:
    """The commands of uv, pipx and pip in a text that name something of ours."""
    for line in text.splitlines():
        for found in re.finditer(
            r"\b(uvx|uv tool (?:run|install)|pipx (?:run|install)|pip install) .+", line
        ):
            words = shlex.split(found[0].partition("&&")[0], comments=True)
            if "..." in words:  # a manner of speaking
                continue
            command = parsed(found[1], words)
            if any(requirement.name.startswith("webfetch") for requirement in command.asked):
                yield command
                break


def parsed(tool: str, line: list[str]) -> Command:
    words = line[len(tool.split()) :]
    asked: list[str] = []
    named = False  # by an option: then the first word is the script alone
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in ("--from", "--spec", "--with"):
            named = named or option != "--with"
            asked.insert(0 if option != "--with" else len(asked), words.pop(0))
        elif option in ("--find-links", "--python"):
            words.pop(0)
    if "install" in tool or not words:  # without words: it talks of an option
        asked += [word for word in words if not word.startswith(("-", "."))]
        return Command(shlex.join(line), [Requirement(a) for a in asked], None, [])
    if not named:
        asked.insert(0, words[0].replace("@", "=="))
    requirements = [Requirement(a) for a in asked]
    script = words[0] if named else requirements[0].name
    return Command(shlex.join(line), requirements, script, words[1:])


def brought(asked: list[Requirement]) -> set[str]:
    """The distributions of ours that these requirements install."""
    found: set[str] = set()
    waiting = [(r.name, extra) for r in asked for extra in ("", *r.extras)]
    while waiting:
        name, extra = waiting.pop()
        if name not in FOLDERS:
            continue
        found.add(name)
        declared = project(FOLDERS[name])
        lines = declared["optional-dependencies"][extra] if extra else declared["dependencies"]
        waiting += [(r.name, e) for r in map(Requirement, lines) for e in ("", *r.extras)]
    return found


RUN = {
    "server.json": registrys_command(),
    "plugin.json": clients_commands(json.dumps({"mcpServers": CLAUDE["mcpServers"]}))[0],
}
WRITTEN = {
    f"{page.relative_to(ROOT)}: {command.text}": command
    for page in PAGES
    for fenced, inline in CODE.findall(page.read_text(encoding="utf-8"))
    for line in (fenced or inline).splitlines()
    for command in commands_of("\n".join(clients_commands(line)) or line)
}
EVERY = WRITTEN | {name: command for name, line in RUN.items() for command in commands_of(line)}


@pytest.mark.parametrize("command", EVERY.values(), ids=EVERY)
def test_a_command_names_what_is_here_and_brings_what_it_runs(command: Command) -> None:
    for requirement in command.asked:
        if requirement.name.startswith("webfetch"):
            assert requirement.name in FOLDERS
            assert requirement.extras <= set(
                project(FOLDERS[requirement.name]).get("optional-dependencies", ())
            )
    if command.script is not None or "tool install" in command.text or "pipx install" in command.text:
        # uv and pipx look for it in the distribution that they are asked for, not in what that brings.
        scripts = project(FOLDERS[command.asked[0].name]).get("scripts", {})
        assert (command.script or "webfetch") in scripts
    if command.words[:1] == ["serve"]:
        assert f"webfetch-serve-{command.words[1]}" in brought(command.asked)


@pytest.mark.parametrize("name", RUN)
def test_a_client_runs_this_release_of_the_server(name: str) -> None:
    (command,) = commands_of(RUN[name])
    assert (command.script, command.words) == ("webfetch", ["serve", "mcp"])
    for requirement in command.asked:
        assert str(requirement.specifier) == f"=={VERSION}"
    assert {"webfetch-search-brave", "webfetch-extract-pdf", "webfetch-rank-onnx"} <= brought(command.asked)


def test_the_bundle_installs_what_its_entry_point_imports() -> None:
    asked = [Requirement(d) for d in project("clients/mcpb")["dependencies"]]
    tree = ast.parse((BUNDLE / MANIFEST["server"]["entry_point"]).read_text(encoding="utf-8"))
    modules = {
        n.module.partition(".")[0] for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module
    }
    ours = {m.replace("_", "-") for m in modules if m.startswith("webfetch_")}
    assert ours and ours <= brought(asked)
    assert all(str(requirement.specifier) == f"=={VERSION}" for requirement in asked)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_script_leads_to_what_comes_with_its_distribution(name: str) -> None:
    for script, target in project(FOLDERS[name]).get("scripts", {}).items():
        module, _, function = target.partition(":")
        assert module.partition(".")[0].replace("_", "-") in brought([Requirement(name)])
        assert callable(getattr(importlib.import_module(module), function))
        # Two may declare the same one, as long as it does not matter whose file it is.
        for other in FOLDERS.values():
            assert project(other).get("scripts", {}).get(script, target) == target


@pytest.mark.parametrize(
    "version",
    [
        SERVER["version"],
        PACKAGE["version"],
        CLAUDE["version"],
        MANIFEST["version"],
        project("clients/mcpb")["version"],
    ],
)
def test_the_version_is_this_release(version: str) -> None:
    assert version == VERSION


def test_the_registrys_file_is_of_its_schema() -> None:
    assert SERVER["$schema"].endswith("/2025-12-11/server.schema.json")
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", SERVER["name"])
    assert 3 <= len(SERVER["name"]) <= 200
    assert 1 <= len(SERVER["description"]) <= 100
    assert PACKAGE["registryType"] == "pypi"
    assert PACKAGE["transport"] == {"type": "stdio"}
    assert all(
        set(v) <= {"name", "description", "isRequired", "isSecret"} for v in PACKAGE["environmentVariables"]
    )
    assert len({v["name"] for v in PACKAGE["environmentVariables"]}) == len(PACKAGE["environmentVariables"])
    assert all(
        set(a) == {"type", "name", "value"} and a["type"] == "named"
        for a in PACKAGE.get("runtimeArguments", ())
    )
    assert all(
        set(a) == {"type", "value"} and a["type"] == "positional" for a in PACKAGE.get("packageArguments", ())
    )


def test_the_package_shows_whose_it_is() -> None:
    """The marker is in the description of the very distribution that the registry's file names."""
    shown = {
        name: MARKER.findall((ROOT / folder / project(folder)["readme"]).read_text(encoding="utf-8"))
        for name, folder in FOLDERS.items()
    }
    assert {name: found for name, found in shown.items() if found} == {
        PACKAGE["identifier"]: [SERVER["name"]]
    }


def test_keys_are_those_that_engines_read() -> None:
    sources = "\n".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "plugins").glob("search_*/src/**/*.py")
    )
    for name in [
        *(v["name"] for v in PACKAGE["environmentVariables"]),
        *MANIFEST["server"]["mcp_config"]["env"],
    ]:
        assert f'"{name}"' in sources


def test_the_marketplace_lists_the_plugin_of_claude_code() -> None:
    market = read(".claude-plugin/marketplace.json")
    assert set(market) == {"name", "description", "owner", "plugins"}
    (entry,) = market["plugins"]
    assert (ROOT / entry["source"] / ".claude-plugin" / "plugin.json") == PLUGIN
    assert entry["source"].startswith("./")
    assert entry["name"] == CLAUDE["name"]
    for name in (market["name"], entry["name"]):
        assert KEBAB.fullmatch(name)


def test_the_bundle_is_of_its_schema_and_has_what_it_names() -> None:
    assert set(MANIFEST) == {
        "manifest_version", "name", "display_name", "version", "description", "author", "server", "tools",
        "compatibility", "user_config",
    }  # fmt: skip
    assert MANIFEST["manifest_version"] == "0.4"
    server = MANIFEST["server"]
    assert set(server) == {"type", "entry_point", "mcp_config"}
    assert (BUNDLE / server["entry_point"]).is_file()
    assert server["mcp_config"]["args"][-1] == server["entry_point"]
    asked = re.findall(r"\$\{user_config\.(\w+)\}", json.dumps(server))
    assert sorted(asked) == sorted(MANIFEST["user_config"])
    assert [tool["name"] for tool in MANIFEST["tools"]] == [tool.name for tool in TOOLS]


def test_what_uv_leaves_in_the_bundles_folder_is_not_packed() -> None:
    """After a try there are 700 MB, and a lock that names folders of this machine."""
    assert {".venv/", "uv.lock"} <= set((BUNDLE / ".mcpbignore").read_text(encoding="utf-8").split())


def test_one_description_is_told_everywhere() -> None:
    (entry,) = read(".claude-plugin/marketplace.json")["plugins"]
    assert {SERVER["description"], CLAUDE["description"], MANIFEST["description"], entry["description"]} == {
        SERVER["description"]
    }


def test_the_bundles_entry_point_starts_the_server(tmp_path: Path) -> None:
    pytest.importorskip("webfetch_serve_mcp")
    ran = subprocess.run(
        [sys.executable, str(BUNDLE / MANIFEST["server"]["entry_point"]), "--help"],
        env={"PATH": "", "HOME": str(tmp_path), "BRAVE_API_KEY": "${user_config.brave_api_key}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("usage: webfetch serve mcp")
