"""What turns a model into one that a plugin here can run: ``webfetch models export`` asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from attrs import field, frozen

from .artefacts import Pick
from .field_checks import must, text
from .requirements import Requirement

PRECISIONS = ("int8", "fp32")


@frozen(kw_only=True)
class ExportRequest:
    """One model to export.

    Attributes:
        source: the folder of the model as it was trained, with the files that ``pick`` chose.
        target: an empty folder; what is written there is kept only when the report has no problem.
        kind: ``biencoder`` or ``crossencoder``; empty where the model's own files are to tell.
        precision: ``int8`` (quantised) or ``fp32``.
        tell: told one line for each thing that takes long.
    """

    source: Path
    target: Path
    kind: str = ""
    precision: str = "int8"
    tell: Callable[[str], None]


@frozen(kw_only=True)
class ExportReport:
    """What came of an export.

    Attributes:
        kind: what the model turned out to be.
        figures: what was measured against the original, by name, in the order to show.
        problems: gates that were missed, each with its figure; the model is thrown away when there are any.
    """

    kind: str
    figures: Mapping[str, float]
    problems: tuple[str, ...] = ()


@frozen(kw_only=True)
class ModelExporter:
    """Exports models of some kinds.

    Attributes:
        name: of the format, for messages.
        kinds: ``biencoder``, ``crossencoder`` or both.
        pick: chooses the files that it reads, among those of a folder or repository.
        export: called in the command's own thread; heavy libraries are imported in it. May raise any
            WebfetchError.
        requires: what must be there before ``export`` is called.
    """

    name: str = field(validator=text)
    kinds: tuple[str, ...]
    pick: Pick = field(validator=must("callable", callable))
    export: Callable[[ExportRequest], ExportReport] = field(validator=must("callable", callable))
    requires: tuple[Requirement, ...] = ()
