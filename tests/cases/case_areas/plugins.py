"""Broken, doubled and incompatible plugins among good ones."""

from __future__ import annotations

import shutil
import sys
import tomllib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from case_runner import Case, Seen

from webfetch_core import Settings, Webfetch
from webfetch_core.errors import WebfetchError
from webfetch_core.registry.manager import describe
from webfetch_core.testing import fake_dist

# The cases' plugins have a bare class ``Engine``; this makes a plugin of it, at the end of its module.
HOOK = """

from webfetch_core.api import Provider as _Provider, SearchHit as _SearchHit
from webfetch_core.api import SearchTraits as _SearchTraits, hookimpl as _hookimpl

CALLS = []

class _Adapted:
    def search(self, request):
        CALLS.append(request.query)
        return [_SearchHit(**row) for row in Engine().search(request.query, request.limit)]

@_hookimpl
def webfetch_search_engines():
    return [
        _Provider(
            name=getattr(Engine, "name", __name__), summary="of a case",
            build=lambda settings, context: _Adapted(), traits=_SearchTraits(network=False),
        )
    ]
"""


def run(case: Case, tmp_path: Path) -> Seen:
    path, modules = _install(case, tmp_path)
    measured: dict[str, float] = {"exceptions": 0}
    text: list[str] = []
    with _on_path(path, modules), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            settings = Settings(home=str(tmp_path / "home"), fetch=())
            with Webfetch(settings, path=path, environ={}) as host:
                # Turn by turn past the cache and the single flight: each search asks anew.
                for turn in range(4 if "x4" in case.op else 1):
                    result = host.search(f"q{turn}", force_fresh=True, deadline_s=5)
                    text += [hit.url for hit in result.hits]
                listed = [p for p in host.plugins() if p.state != "built-in"]
                text.append(_listing(host))
        except WebfetchError as exc:
            return Seen(text=str(exc), error_kind=exc.kind)
        except BaseException as exc:
            measured["exceptions"] += 1
            return Seen(text=describe(exc), measured=measured)
        measured["registered"] = sum(p.state == "loaded" for p in listed)
        measured["warnings"] = len(warned)
        for name in modules:
            measured[f"{name}_calls"] = len(getattr(sys.modules.get(name), "CALLS", ()))
    return Seen(text="\n".join(text), measured=measured)


def _listing(host: Webfetch) -> str:
    """What ``webfetch plugins`` tells."""
    return "\n".join(f"{p.name} ({p.dist} {p.version}) {p.state} {p.reason}" for p in host.plugins())


def _install(case: Case, tmp_path: Path) -> tuple[list[str], list[str]]:
    """Make the case's distributions; return the search path and the modules in it."""
    site = tmp_path / "site"
    site.mkdir()
    modules: list[str] = []
    for project in sorted(case.folder.glob("*/pyproject.toml")):
        modules.append(_install_project(project, site))
    if (case.folder / "site").is_dir():
        shutil.copytree(case.folder / "site", site, dirs_exist_ok=True)
        for module in site.glob("*.py"):
            module.write_text(module.read_text(encoding="utf-8") + HOOK, encoding="utf-8")
            modules.append(module.stem)
        for entry_points in site.glob("*.dist-info/entry_points.txt"):
            told = entry_points.read_text(encoding="utf-8")
            told = told.replace("[wf.engines]", "[webfetch.v1]").replace(":Engine", "")
            entry_points.write_text(told, encoding="utf-8")
    if not (case.folder / "layout.json").is_file():
        return [str(site)], modules
    # Both layouts are one folder that is seen under two names, through a link.
    assert "link" in (case.folder / "layout.json").read_text(encoding="utf-8")
    (tmp_path / "lib64").symlink_to("site")
    return [str(tmp_path / "lib64"), str(site)], modules


def _install_project(file: Path, site: Path) -> str:
    project: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    ((name, value),) = project["entry-points"]["wf.engines"].items()
    module = value.partition(":")[0]
    source = (file.parent / f"{module}.py").read_text(encoding="utf-8")
    fake_dist(
        site, project["name"], version=project["version"], entry_points={name: module},
        modules={module: source + HOOK}, requires=project.get("dependencies", ()),
    )  # fmt: skip
    return module


@contextmanager
def _on_path(path: list[str], modules: list[str]) -> Iterator[None]:
    sys.path[:0] = path
    try:
        yield
    finally:
        del sys.path[: len(path)]
        for name in modules:
            sys.modules.pop(name, None)
