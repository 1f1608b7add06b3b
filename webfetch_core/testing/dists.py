"""Installed distributions without an installer: a module and its real ``.dist-info`` folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import dedent

from ..markers import GROUP


def fake_dist(
    folder: Path,
    name: str,
    *,
    version: str = "1.0",
    entry_points: Mapping[str, str] | None = None,
    modules: Mapping[str, str] | None = None,
    requires: Sequence[str] = (),
    group: str = GROUP,
) -> Path:
    """Write a distribution into ``folder``, which is then put on a path, and return its ``.dist-info``.

    Args:
        name: the distribution's name (``webfetch-search-mine``).
        entry_points: plugin name to module (``{"search_mine": "webfetch_search_mine"}``).
        modules: module name to source; dots make packages. The source is dedented.
        requires: ``Requires-Dist`` lines.
        group: the entry-point group.
    """
    for module, source in (modules or {}).items():
        path = folder.joinpath(*module.split(".")).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in path.relative_to(folder).parents:
            if parent.parts:
                (folder / parent / "__init__.py").touch()
        path.write_text(dedent(source), encoding="utf-8")
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    headers = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    headers += [f"Requires-Dist: {requirement}" for requirement in requires]
    (info / "METADATA").write_text("\n".join(headers) + "\n", encoding="utf-8")
    (info / "INSTALLER").write_text("webfetch_core.testing\n", encoding="utf-8")
    lines = [f"[{group}]", *(f"{key} = {value}" for key, value in (entry_points or {}).items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return info
