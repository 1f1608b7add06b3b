"""The checks of this repository. ``nox -l`` lists them; the first group is what runs every day.

    nox                              lint, types, tests
    nox -s "alone(rank_bm25)"        one plugin with nothing but the core
    nox -s author -- ../my-engine    check a plugin outside this repository
    nox -t nightly                   what is too heavy for every day

Under ``--no-venv`` the sessions use the environment that nox runs in, as ``.ci/run`` does.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

import nox
from nox.virtualenv import PassthroughEnv

ROOT = Path(__file__).parent
PLUGINS = sorted(p.parent.name for p in ROOT.glob("plugins/*/pyproject.toml") if p.parent.name != "webfetch")
BROKEN = sorted(str(p.parent.relative_to(ROOT)) for p in ROOT.glob("tests/broken/*/pyproject.toml"))
PYTHONS = ["3.11", "3.12", "3.13"]
# What a plugin's own tests may use beside the plugin and the core.
TEST_TOOLS = ["pytest>=8", "pytest-timeout>=2.3", "hypothesis>=6.100"]
# Backends of every project here: with them present nothing has to be fetched to build.
BUILD_TOOLS = ["hatchling>=1.21", "editables>=0.5"]

nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_missing_interpreters = False
nox.needs_version = ">=2024.4.15"


def _shared(session: nox.Session) -> bool:
    """Whether the session runs in an environment that is not its own."""
    return isinstance(session.virtualenv, PassthroughEnv)


def _install(session: nox.Session, *what: str) -> None:
    """Install with a current pip: the one that Python 3.11 brings cannot resolve extras that name extras."""
    if not _shared(session):
        session.install("-q", "-U", "pip")
        session.install("-q", *what)


def _environment(session: nox.Session) -> None:
    # The folder that pytest runs in holds webfetch_core: without this it would hide the installed one.
    session.env["PYTHONSAFEPATH"] = "1"


def _own_python(session: nox.Session) -> str:
    """A Python into which a session may install bad things: its own, or one laid over a shared one."""
    if not _shared(session):
        return str(Path(session.virtualenv.bin) / "python")
    folder = Path(tempfile.mkdtemp(prefix="webfetch-nox-"))
    session.run(sys.executable, "-m", "venv", "--without-pip", str(folder), external=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    site = next(folder.glob("[Ll]ib/**/site-packages"))
    below = [p for p in sys.path if p.endswith("site-packages")]
    # addsitedir, and not a plain line: it reads the .pth files of editable installs as well.
    lines = [f"import site; site.addsitedir({path!r})" for path in below]
    (site / "below.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(python)


def _clean(python: str) -> None:
    folder = Path(python).parents[1]
    if folder.name.startswith("webfetch-nox-"):
        shutil.rmtree(folder, ignore_errors=True)


# ---- every day --------------------------------------------------------------------------------------


@nox.session(tags=["daily"])
def lint(session: nox.Session) -> None:
    """Style, format, and the rules of who imports whom."""
    _install(session, "-r", "requirements-dev.txt")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", "--no-cache")


@nox.session(tags=["daily"])
def types(session: nox.Session) -> None:
    """mypy, strict, for the core and for every plugin."""
    _install(session, "-r", "requirements-dev.txt")
    sources = [f"plugins/{name}/src" for name in PLUGINS if (ROOT / "plugins" / name / "src").is_dir()]
    session.run("mypy", "--strict", "webfetch_core", *sources)


@nox.session(python=PYTHONS, tags=["daily"])
def tests(session: nox.Session) -> None:
    """Every test, with everything installed."""
    _install(session, "-r", "requirements-dev.txt")
    session.run("pytest", *session.posargs)


@nox.session(tags=["daily"])
@nox.parametrize("plugin", PLUGINS, ids=PLUGINS)
def alone(session: nox.Session, plugin: str) -> None:
    """One plugin in a fresh environment with the core and nothing else: its tests and its contract."""
    if _shared(session):
        session.error("this session is about an environment of its own: run it without --no-venv")
    _install(session, *TEST_TOOLS, ".", f"./plugins/{plugin}")
    _environment(session)
    session.run("pytest", f"plugins/{plugin}/tests", *session.posargs)
    session.run("python", "-m", "webfetch_core.testing.check", f"webfetch-{plugin.replace('_', '-')}")


@nox.session(tags=["daily"])
def broken(session: nox.Session) -> None:
    """Install every bad plugin of tests/broken: the host goes on serving and names each culprit."""
    _install(session, *BUILD_TOOLS, ".")
    _environment(session)
    python = _own_python(session)
    try:
        bad = [f"./{path}" for path in BROKEN]
        options = ["-q", "--no-build-isolation", "--no-deps", "--no-index"]
        session.run(python, "-m", "pip", "install", *options, *bad, external=True)
        session.run(python, "tests/broken/check_broken.py", external=True)
    finally:
        _clean(python)


@nox.session(tags=["daily"])
def author(session: nox.Session) -> None:
    """Build, install and use the guide's example; with a PATH, check the project there instead."""
    _install(session, *BUILD_TOOLS, "pytest>=8", ".")
    _environment(session)
    python = _own_python(session)
    try:
        session.run(python, "tests/author/check_author.py", *session.posargs, external=True)
    finally:
        _clean(python)


# ---- nightly ----------------------------------------------------------------------------------------


@nox.session(tags=["nightly"])
def clients(session: nox.Session) -> None:
    """Unmodified clients: of engines against simulated ones, of models and of our servers."""
    if _shared(session):
        session.error("this session installs other people's clients: run it without --no-venv")
    engines = ("ddgs", "lxml", "tavily-python", "exa-py", "perplexityai")
    models = ("anthropic", "openai", "google-genai")
    dropins = ("firecrawl-py", "langchain-tavily", "langchain-community", "schemathesis")
    servers = ("./plugins/serve_http", "./plugins/serve_mcp")
    _install(session, *TEST_TOOLS, *engines, *models, *dropins, ".", *servers)
    _environment(session)
    tests = ("tests/unit/testing", "tests/unit/tool", "tests/meta/test_agent_examples.py")
    # What a client leaves open is closed by the collector, which complains of it whenever it likes.
    lenient = ("-W", "ignore::pytest.PytestUnraisableExceptionWarning")
    session.run("pytest", *tests, "-k", "client or vendors", *lenient, *session.posargs)
    session.run("pytest", "plugins/serve_http/tests/test_http_clients.py", *lenient, *session.posargs)
    mcp = [f"plugins/serve_mcp/tests/test_mcp_{how}.py" for how in ("stdio", "http")]
    session.run("pytest", *mcp, *session.posargs)


@nox.session(tags=["nightly"])
def matrix(session: nox.Session) -> None:
    """Every plugin installed from wheels, offline, on the loopback web."""
    dists = [".", *(f"./plugins/{name}" for name in PLUGINS), "./plugins/webfetch"]
    _install(session, *TEST_TOOLS, "packaging", *dists)
    _environment(session)
    session.env["TEST_WHEELS"] = "1"
    session.run("pytest", "tests", *session.posargs)


@nox.session(tags=["nightly"])
def floor(session: nox.Session) -> None:
    """Every test with the lowest versions that the projects say they work with."""
    bounds: dict[str, str] = {}
    for file in (ROOT / "pyproject.toml", *ROOT.glob("plugins/*/pyproject.toml")):
        for requirement in tomllib.loads(file.read_text(encoding="utf-8"))["project"]["dependencies"]:
            found = re.match(r"([\w.-]+)[^>=]*>=\s*([\w.]+)", requirement)
            if found and not found[1].startswith("webfetch"):
                bounds[found[1]] = max(bounds.get(found[1], ""), found[2], key=_release)
    constraints = Path(session.create_tmp()) / "floor.txt"
    constraints.write_text("\n".join(f"{n}=={v}" for n, v in sorted(bounds.items())) + "\n", encoding="utf-8")
    session.log("; ".join(f"{n} {v}" for n, v in sorted(bounds.items())))
    _install(
        session, *TEST_TOOLS, "packaging", ".", *(f"./plugins/{n}" for n in PLUGINS), "-c", str(constraints)
    )
    _environment(session)
    session.env["TEST_WHEELS"] = "1"
    session.run("pytest", "tests/unit", "tests/discovery", *(f"plugins/{n}/tests" for n in PLUGINS))


@nox.session(tags=["nightly"])
def parity(session: nox.Session) -> None:
    """The models beside sentence-transformers: rank_sbert, what rank_onnx makes of them, and exporting."""
    if _shared(session):
        session.error("this session brings torch: run it without --no-venv")
    # First, and by this version: whatever comes later must not bring another build.
    _install(session, "torch==2.13.0")
    _install(session, *TEST_TOOLS, ".", "./plugins/rank_onnx[export,hub]", "./plugins/rank_sbert[torch]")
    _environment(session)
    folders = ("tests/parity", "plugins/rank_onnx/tests", "plugins/rank_sbert/tests")
    session.run("pytest", *folders, *session.posargs)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


@nox.session(tags=["nightly"])
def evals(session: nox.Session) -> None:
    """The figures, each by its own script; floors.json says what must hold."""
    _install(session, "-r", "requirements-dev.txt", "-r", "evals/requirements.txt")
    scripts = sorted(ROOT.glob("evals/*.py"), key=lambda path: (path.stem == "report", path))  # which draws
    for script in scripts:
        if 'if __name__ == "__main__"' in script.read_text(encoding="utf-8") and script.stem[:5] != "train":
            session.run("python", str(script.relative_to(ROOT)))


@nox.session(tags=["nightly"])
def docs(session: nox.Session) -> None:
    """Hooks, snippets and links of the documentation."""
    _install(session, "-r", "requirements-dev.txt")
    session.run("pytest", "tests/meta", "-k", "hook or doc or surface")


@nox.session(tags=["nightly"])
def build(session: nox.Session) -> None:
    """Build a wheel of every distribution, install them, and run the tests against them."""
    _install(session, *TEST_TOOLS, *BUILD_TOOLS, "packaging")
    wheels = Path(session.create_tmp()) / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    projects = [".", *(f"./plugins/{name}" for name in PLUGINS), "./plugins/webfetch"]
    session.run("pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels), *projects)
    built = sorted(wheels.glob("*.whl"))
    # By name and from that folder alone, as from an index; what they depend on comes from the usual one.
    names = [wheel.name.partition("-")[0] for wheel in built]
    # Anew in an environment that is used again (-r), too: their version does not tell pip that they changed.
    fresh = ("-q", "--no-index", "--no-deps", "--force-reinstall")
    by_name = ("pip", "install", *fresh, "--find-links", str(wheels))
    session.run(*by_name, *names)
    session.install("-q", *(str(wheel) for wheel in built))
    _environment(session)
    for command in ("webfetch plugins", "webfetch-mcp --help", "webfetch serve http --help"):
        session.run(*command.split(), silent=True)
    # Two distributions have the command (docs/adr/0012): without one of them it comes back with the other.
    session.run("pip", "uninstall", "-q", "-y", "webfetch")
    session.run("python", "-m", "webfetch_core", "--version")
    session.run(*by_name, "webfetch-core")
    session.run("webfetch", "--version")
    session.run(*by_name, "webfetch")
    session.env["TEST_WHEELS"] = "1"
    session.run("pytest", *session.posargs)
