"""Build the example of the authors' guide from the guide itself, install it, and use it.

``check_author.py`` alone takes ``docs/plugin-authors/first-engine.md``: the files in its marked code
blocks are written to a folder, installed, tested by their own contract, listed by ``webfetch
plugins``, and searched with, in fusion with another engine; the remote service is played on
loopback. ``check_author.py PATH`` checks the project at PATH: install, load, contract, listing,
and its own tests where it has any. Both install into the environment that runs this script.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "plugin-authors" / "first-engine.md"
DIST = "webfetch-search-wiki"
MAX_LINES = 30


def blocks(markdown: str) -> dict[str, str]:
    """File name to content of the code blocks that name one (```` ```python name.py ````)."""
    found = re.findall(r"^```\w+ ([\w.]+)\n(.*?)^```$", markdown, re.DOTALL | re.MULTILINE)
    return dict(found)


def run(*command: str, cwd: Path) -> str:
    """Run a command and return its output; its failure ends the check."""
    print(f"$ {' '.join(command)}", flush=True)
    environ = {**os.environ, "WEBFETCH_HOME": str(cwd / "home"), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stdout[-4000:], done.stderr[-4000:])
        sys.exit(f"failed ({done.returncode}): {' '.join(command)}")
    return done.stdout


def python(*arguments: str, cwd: Path) -> str:
    return run(sys.executable, *arguments, cwd=cwd)


def install(project: Path, cwd: Path) -> None:
    # The core is here already and the build backend too: nothing has to be fetched.
    python("-m", "pip", "install", "-q", "--no-build-isolation", str(project), cwd=cwd)


def check_listing(dist: str, cwd: Path) -> None:
    """The plugin is in what ``webfetch plugins`` prints, loaded and without a remark."""
    shown = python("-m", "webfetch_core", "plugins", cwd=cwd)
    listed = json.loads(python("-m", "webfetch_core", "plugins", "--json", cwd=cwd))["plugins"]
    rows = [row for row in listed if row["dist"] == dist]
    if not rows or dist not in shown:
        sys.exit(f"{dist} is not in `webfetch plugins`")
    for row in rows:
        if row["state"] != "loaded" or row["reason"]:
            sys.exit(f"{dist}: {row['state']}: {row['reason']}")
    print("\n".join(line for line in shown.splitlines() if dist in line))


FUSION = """
from test_search_wiki import TestWiki
from webfetch_core import Settings, Webfetch
from webfetch_core.testing import LoopbackService, ScriptedEngine, fake_plugin

shared = TestWiki.reply[3][0]
other = fake_plugin("search", ScriptedEngine([shared, "https://other.example/"]), name="other")
with LoopbackService(TestWiki.reply) as service:
    table = {"search_wiki": {"base_url": service.base_url + "/w/api.php"}}
    settings = Settings(home="home", plugins=table, search=("wiki", "other"), fetch=())
    with Webfetch(settings, plugins=[other]) as wf:
        result = wf.search("lighthouse")
print([(a.provider, a.outcome, a.count) for a in result.attempts])
best = result.hits[0]
assert best.url == shared and dict(best.engines) == {"wiki": 1, "other": 1}, best
assert service.requests[0].query.startswith("action=opensearch&search=lighthouse"), service.requests
print("fused:", best.url, dict(best.engines))
"""


def check_guide(folder: Path) -> None:
    """The example of the guide, from its text to a fused hit."""
    files = blocks(GUIDE.read_text(encoding="utf-8"))
    example = {name: text for name, text in files.items() if not name.startswith("test_")}
    lines = sum(len(text.splitlines()) for text in example.values())
    if lines >= MAX_LINES:
        sys.exit(f"the example has {lines} lines; the guide promises fewer than {MAX_LINES}")
    project = folder / DIST
    project.mkdir()
    for name, text in files.items():
        (project / name if name in example else folder / name).write_text(text, encoding="utf-8")
    print(f"{', '.join(example)}: {lines} lines")
    install(project, folder)
    print(python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_search_wiki.py", cwd=folder))
    print(python("-m", "webfetch_core.testing.check", DIST, cwd=folder))
    check_listing(DIST, folder)
    (folder / "fusion.py").write_text("import sys\nsys.path.insert(0, '.')\n" + FUSION, encoding="utf-8")
    print(python("fusion.py", cwd=folder))


def check_project(project: Path, folder: Path) -> None:
    """A project outside this repository."""
    described = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    install(project, folder)
    print(python("-m", "webfetch_core.testing.check", described["name"], cwd=folder))
    check_listing(described["name"], folder)
    tests = [p for p in (project / "tests", *project.glob("test_*.py")) if p.exists()]
    if tests:
        print(python("-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests), cwd=folder))


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        if arguments:
            check_project(Path(arguments[0]).resolve(), Path(folder))
        else:
            check_guide(Path(folder))
            python("-m", "pip", "uninstall", "-q", "-y", DIST, cwd=Path(folder))
    print("author: all well")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
