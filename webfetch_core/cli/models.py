"""``webfetch models``."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..artefacts import ModelSpec
from ..errors import WebfetchError
from ..runtime.models import ModelState, ModelStore
from .exit_codes import CONFIG, OK
from .output import Streams, told_size, width_of, wrapped
from .parser import UsageFault

if TYPE_CHECKING:
    from ..app import Webfetch

INDENT = "  "


def run(args: Namespace, wf: Webfetch, streams: Streams, environ: Mapping[str, str]) -> int:
    """Carry out one action on the models that the installed plugins name."""
    actions: dict[str, Callable[[Namespace, Sequence[ModelSpec], ModelStore, Streams, int], int]] = {
        "list": _list,
        "pull": _pull,
        "verify": _verify,
    }
    specs = wf.host.catalog.models()
    return actions[args.action](args, specs, wf.host.models(), streams, width_of(environ))


def _list(
    args: Namespace, specs: Sequence[ModelSpec], store: ModelStore, streams: Streams, width: int
) -> int:
    return _show([store.state(spec) for spec in specs], args, streams, width)


def _verify(
    args: Namespace, specs: Sequence[ModelSpec], store: ModelStore, streams: Streams, width: int
) -> int:
    """Hash what is there; the exit code tells of damage. What is not there is nobody's damage."""
    states = [store.state(spec, verify=True) for spec in _named(args.names, specs)]
    _show(states, args, streams, width)
    return CONFIG if any(state.state == "damaged" for state in states) else OK


def _pull(
    args: Namespace, specs: Sequence[ModelSpec], store: ModelStore, streams: Streams, width: int
) -> int:
    """Pull each; one that fails does not keep the others from coming."""
    failure: WebfetchError | None = None
    wanted = _named(args.names, specs)
    for spec in wanted:
        try:
            store.pull(spec, streams.note)
        except WebfetchError as exc:
            if len(wanted) > 1:
                streams.note(f"webfetch: {spec.name}: {exc}")
            failure = exc
    if failure is not None:
        raise failure
    return _show([store.state(spec) for spec in wanted], args, streams, width)


def _named(names: Sequence[str], specs: Sequence[ModelSpec]) -> list[ModelSpec]:
    """The models of those names; all of them when none is named. Raises UsageFault for an unknown one."""
    by_name = {spec.name: spec for spec in specs}
    for name in names:
        if name not in by_name:
            known = ", ".join(by_name) or "none"
            raise UsageFault(
                f"no installed plugin has a model {name!r} (there are: {known})",
                fix="" if by_name else "pip install webfetch-rank-onnx",
            )
    return [by_name[name] for name in names] or list(specs)


def _show(states: Sequence[ModelState], args: Namespace, streams: Streams, width: int) -> int:
    if args.json:
        from ..wire import to_plain

        streams.json({"models": to_plain(list(states))})
        return OK
    if not states:
        streams.text("no installed plugin has a model")
    for state in states:
        where = f" ({state.source})" if state.source else ""
        origin = f"{state.repo}@{state.revision[:12]}" if state.repo else "shipped in packages"
        streams.text(f"{state.name}  {state.state}{where}")
        for line in (f"{state.summary}; {told_size(state.size)}, {state.licence}, {origin}", state.reason):
            if line:
                streams.text("\n".join(wrapped(INDENT, line, width)))
    return OK
