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
    if args.action == "export":
        from .models_export import run as export

        return export(args, wf, streams, environ)
    actions: dict[str, Callable[[Namespace, Sequence[ModelSpec], ModelStore, Streams, int], int]] = {
        "list": _list,
        "pull": _pull,
        "verify": _verify,
    }
    # Without a name only what a provider waits for is pulled: the rest may be large, and of no use here.
    specs = wf.host.catalog.models(wanted=args.action == "pull" and not args.names)
    for row in wf.host.catalog.reports():
        if row.stage == "rank" and row.state == "broken":  # its settings tell which models are meant
            streams.note(f"webfetch: {row.name} is left out: {row.reason}")
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
    """The models of those names, or of those repositories; all of them when none is named.

    Raises:
        UsageFault: none of them is meant by a name.
    """
    chosen = []
    for name in names:
        same = [s for s in specs if name in (s.name, s.repo, f"{s.repo}@{s.revision}")]
        if not same:
            known = ", ".join(spec.name for spec in specs) or "none"
            raise UsageFault(
                f"no installed plugin has a model {name!r} (there are: {known})",
                fix="" if specs else "pip install webfetch-rank-onnx",
            )
        chosen += same
    return chosen or list(specs)


def _show(states: Sequence[ModelState], args: Namespace, streams: Streams, width: int) -> int:
    if args.json:
        from ..wire import to_plain

        streams.json({"models": to_plain(list(states))})
        return OK
    if not states:
        streams.text("no installed plugin has a model")
    for state in states:
        where = f" ({state.source})" if state.source else ""
        streams.text(f"{state.name}  {state.state}{where}")
        for line in (_about(state), state.reason):
            if line:
                streams.text("\n".join(wrapped(INDENT, line, width)))
    return OK


def _about(state: ModelState) -> str:
    """What it is for, how large, under which licence and from where, as far as it is known."""
    origin = f"{state.repo}@{state.revision[:12]}" if state.repo else state.path or "shipped in packages"
    size = told_size(state.size) if state.size else ""
    facts = ", ".join(fact for fact in (size, state.licence, origin) if fact)
    return f"{state.summary}; {facts}" if state.summary else facts
