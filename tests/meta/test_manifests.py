"""What registries and clients read of the MCP server is what the project does, in shapes that they take."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

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
EXTRAS = project("plugins/webfetch")["optional-dependencies"]


def requirements(value: Any) -> list[str]:
    """Every text in a manifest that is a requirement of one of our distributions."""
    if isinstance(value, str):
        return [value] if re.match(r"webfetch[\w-]*(\[|==)", value) else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for item in items for found in requirements(item)]


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


@pytest.mark.parametrize("what", [SERVER, CLAUDE, project("clients/mcpb")["dependencies"]])
def test_what_is_installed_is_of_this_release_and_has_these_extras(what: Any) -> None:
    found = requirements(what)
    assert found
    for requirement in found:
        name, extras, version = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?==(.+)", requirement).groups()  # type: ignore[union-attr]
        assert version == VERSION
        assert name in ("webfetch", "webfetch-serve-mcp")
        assert set(filter(None, (extras or "").split(","))) <= set(EXTRAS)


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


def test_the_package_shows_whose_it_is_and_runs_by_its_own_name() -> None:
    declared = project("plugins/serve_mcp")
    assert PACKAGE["identifier"] == declared["name"]
    readme = (ROOT / "plugins" / "serve_mcp" / declared["readme"]).read_text(encoding="utf-8")
    assert MARKER.findall(readme) == [SERVER["name"]]
    assert declared["scripts"][PACKAGE["identifier"]] == declared["scripts"]["webfetch-mcp"]


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
    assert set(market) == {"name", "owner", "plugins"}
    (entry,) = market["plugins"]
    assert (ROOT / entry["source"] / ".claude-plugin" / "plugin.json") == PLUGIN
    assert entry["source"].startswith("./")
    assert entry["name"] == CLAUDE["name"]
    for name in (market["name"], entry["name"]):
        assert KEBAB.fullmatch(name)
    (server,) = CLAUDE["mcpServers"].values()
    assert server["args"][-1] in project("plugins/serve_mcp")["scripts"]


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
