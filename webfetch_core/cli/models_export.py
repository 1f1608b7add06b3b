"""``webfetch models export``: a plugin converts and measures, the core keeps the result or throws it away."""

from __future__ import annotations

import json
import os
import shutil
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from .. import manifests
from ..artefacts import ModelSpec, store_folder
from ..errors import CacheError, ConfigError, NotConfigured
from ..exports import ExportReport, ExportRequest, ModelExporter
from ..model_choice import chosen_model
from ..settings import in_home
from .exit_codes import FAULT, OK
from .output import Streams, told_size
from .parser import UsageFault

if TYPE_CHECKING:
    from ..app import Webfetch

SOURCE = "source"
"""Told apart from a model of the same repository that runs as it is."""


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Export one model; 1 when it is not close enough to the original, and then nothing is kept."""
    plugin, exporter = _exporter(wf, args.kind, environ)
    spec = _source(args.model, exporter)
    store = wf.host.models()
    home = str(wf.host.settings.home_dir(environ))
    folder = store_folder({**environ, "WEBFETCH_HOME": home}) / "exported"
    given = in_home(args.to).absolute() if args.to else None
    target = given or folder / f"{spec.name.removesuffix('--' + SOURCE)}-{args.precision}"
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UsageFault(f"{target} is there already", fix="remove it, or name another folder with --to")
    source = _root(store.pull(spec, streams.note) if spec.repo else store.files(spec))
    partial = target.with_name(f".{target.name}.partial-{os.getpid()}")
    try:
        partial.mkdir(parents=True)
        report = exporter.export(
            ExportRequest(
                source=source,
                target=partial,
                kind=args.kind or "",
                precision=args.precision,
                tell=streams.note,
            )
        )
        rows = _keep(partial, target, spec, report, args.precision) if not report.problems else ()
    except OSError as exc:
        raise CacheError(
            f"{target} cannot be written: {exc.strerror or exc}", fix="name a folder with --to"
        ) from exc
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    _show(report, rows, target, args, streams, plugin)
    return FAULT if report.problems else OK


def _exporter(wf: Webfetch, kind: str | None, environ: Mapping[str, str]) -> tuple[str, ModelExporter]:
    """The first exporter of that kind, and whose it is. Raises NotConfigured: there is none that works."""
    lacking = ""
    for answer in wf.host.manager.ask_each("webfetch_model_exporters"):
        for exporter in answer.value or () if not answer.problem else ():
            if not isinstance(exporter, ModelExporter) or (kind and kind not in exporter.kinds):
                continue
            missing = next((told for r in exporter.requires if (told := r.missing(environ))), "")
            if not missing:
                return answer.plugin, exporter
            lacking = lacking or f"{exporter.name}: {missing}"
    if lacking:
        raise NotConfigured(f"models cannot be exported yet: {lacking}")
    raise NotConfigured(
        "no installed plugin exports models" + (f" of the kind {kind}" if kind else ""),
        fix="pip install 'webfetch-rank-onnx[export]'",
    )


def _source(value: str, exporter: ModelExporter) -> ModelSpec:
    """The model to export: a folder, or a repository and its commit. Raises UsageFault."""
    path = in_home(value)
    named = str(path.absolute()) if path.is_dir() else value
    try:
        return chosen_model(named, "MODEL", (), exporter.pick, variant=SOURCE)
    except ConfigError as exc:
        raise UsageFault(exc.message, fix=exc.fix) from exc


def _root(paths: Mapping[str, Path]) -> Path:
    """The folder in which files lie by their names."""
    name, path = next(iter(paths.items()))
    return path.parents[len(PurePosixPath(name).parts) - 1]


def _keep(
    partial: Path, target: Path, spec: ModelSpec, report: ExportReport, precision: str
) -> tuple[manifests.Listed, ...]:
    """Write the manifest, and let the folder appear under its name."""
    names = [path.relative_to(partial).as_posix() for path in partial.rglob("*") if path.is_file()]
    rows = manifests.listed(partial, names)
    source = {"repo": spec.repo, "revision": spec.revision} if spec.repo else {"folder": Path(spec.path).name}
    about = {"source": source, "kind": report.kind, "precision": precision, "measured": dict(report.figures)}
    manifests.write(partial, rows, about)
    if target.exists():  # an empty folder
        target.rmdir()
    partial.replace(target)
    return rows


def _show(
    report: ExportReport,
    rows: tuple[manifests.Listed, ...],
    target: Path,
    args: Namespace,
    streams: Streams,
    plugin: str,
) -> None:
    if args.json:
        streams.json(
            {
                "kind": report.kind,
                "precision": args.precision,
                "figures": dict(report.figures),
                "problems": list(report.problems),
                "folder": str(target) if rows else "",
                "files": {row.name: {"sha256": row.sha256, "size": row.size} for row in rows},
            }
        )
        return
    streams.text(f"{report.kind}, {args.precision}, beside the original:")
    for name, value in report.figures.items():
        streams.text(f"  {name:<34} {_told(name, value)}")
    for row in rows:
        streams.text(f"  {row.name:<34} {told_size(row.size)}  {row.sha256[:16]}...")
    for problem in report.problems:
        streams.text(f"missed: {problem}")
    if rows:
        streams.text(f"written to {target}; to use it, in [plugins.{plugin}]:")
        streams.text(f"  {report.kind} = {json.dumps(str(target))}")
    else:
        streams.text("nothing was kept")


def _told(name: str, value: float) -> str:
    return told_size(int(value)) if name.endswith("bytes") else f"{value:.5g}"
