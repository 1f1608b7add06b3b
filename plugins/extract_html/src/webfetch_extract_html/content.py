"""Which blocks of a page are its content, by whom that was decided, and why.

The classifier is asked first. On articles trafilatura's opinion narrows its choice (the article step). Where
the classifier cannot be asked, keeps little or expects little of its own choice, the other steps are run and
the better attested choice wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from webfetch_core.api import ExtractionStep

from .steps import PageView, Selection, Step, article_step, mend, size_of, visible_step

if TYPE_CHECKING:
    from .classifier.classify import Verdict

MODEL_FILE = Path(__file__).with_name("classifier") / "model.bin"

ENOUGH, FLOOR, LEFT_OVER = 0.6, 0.4, 0.1
"""Shares of the content-like words; measured on pages of seven types by word F1 of the kept text."""

FEW_WORDS = 40
"""A choice with fewer words is doubted."""
UNSURE = 0.5
"""So is one of which the classifier itself expects a lower word F1."""
ARTICLE, ARTICLE_SHARE, CERTAIN = 0.5, 0.5, 0.8
"""The article step is run where an article is this likely; it narrows the choice if it agrees with this share
of its words; blocks of this probability stay whatever it says. Chosen by cross-validated word F1."""

_SMALL = 8
_MANY = 20_000
"""Blocks beyond which a page is a list or a dump, and other tools take tens of seconds."""


@frozen(kw_only=True)
class Content:
    """``selection`` has a flag per block, ``step`` is who chose them; ``page_type`` is empty where the
    classifier was not asked, ``confidence`` is the probability of that type."""

    selection: Selection
    step: str
    steps: tuple[ExtractionStep, ...] = ()
    page_type: str = ""
    confidence: float = 0.0


@define
class _Trail:
    """The steps so far."""

    view: PageView
    tried: dict[str, ExtractionStep] = field(factory=dict)

    def note(self, name: str, selection: Selection | None, reason: str, *, won: bool = False) -> None:
        words = size_of(self.view, selection) if selection is not None else 0
        self.tried[name] = ExtractionStep(name=name, words=words, won=won, reason=reason)


def find_content(view: PageView, chain: Sequence[Step], model_file: Path | None = MODEL_FILE) -> Content:
    """Choose. ``chain`` are the steps to fall back on; without ``model_file`` only these are run."""
    trail = _Trail(view)
    verdict, doubt = _ask(view, model_file) if model_file else (None, "")
    if verdict is None:
        if doubt:
            trail.note("classifier", None, doubt)
        selection, step = choose(view, chain, trail)
        return Content(selection=selection, step=step, steps=tuple(trail.tried.values()))
    selection, step = _by_classifier(view, verdict, chain, trail)
    return Content(
        selection=selection,
        step=step,
        steps=tuple(trail.tried.values()),
        page_type=verdict.page_type,
        confidence=verdict.types[verdict.page_type],
    )


def _ask(view: PageView, model_file: Path) -> tuple[Verdict | None, str]:
    """The classifier's verdict, or None and why there is none."""
    if not view.blocks:
        return None, "the page has no text"
    try:
        from .classifier import classify
        from .classifier.model import ModelError
    except ImportError as error:
        return None, f"not installed whole: {error}"
    if len(view.blocks) > classify.MAX_BLOCKS:
        return None, f"{len(view.blocks)} blocks are more than the {classify.MAX_BLOCKS} it takes"
    try:
        model = classify.load_model(model_file)
        inputs = classify.read_page(
            view.root,
            view.blocks,
            url=view.url,
            kinds=view.kinds,
            title=view.title,
            description=view.description,
        )
        return classify.judge(model, inputs), ""
    except ModelError as error:
        return None, f"its model cannot be used: {error}"


def _by_classifier(
    view: PageView, verdict: Verdict, chain: Sequence[Step], trail: _Trail
) -> tuple[Selection, str]:
    kept: Selection = verdict.kept.tolist()
    words = size_of(view, kept)
    kind = verdict.page_type
    said = f"{kind} page ({verdict.types[kind]:.0%}), expects F1 {verdict.expected_f1:.2f}"
    if words < FEW_WORDS or verdict.expected_f1 < UNSURE:
        why = f"{said}: only {words} words" if words < FEW_WORDS else f"{said}: unsure"
        trail.note("classifier", kept, why)
        other, step = choose(view, chain, trail)
        if size_of(view, other) > 2 * words:
            return other, step
        for name in trail.tried:
            trail.tried[name] = _lost(trail.tried[name], "no more words than the classifier's choice")
        trail.note("classifier", kept, f"{why}, but nothing better was found", won=True)
        return kept, "classifier"
    trail.note("classifier", kept, said, won=True)
    if verdict.types.get("article", 0.0) > ARTICLE:
        narrowed = _narrowed(view, verdict, kept, trail)
        if narrowed is not None:
            return narrowed, "classifier"
    return kept, "classifier"


def _lost(step: ExtractionStep, reason: str) -> ExtractionStep:
    return ExtractionStep(name=step.name, words=step.words, reason=reason if step.won else step.reason)


def _narrowed(view: PageView, verdict: Verdict, kept: Selection, trail: _Trail) -> Selection | None:
    """The classifier's choice without what trafilatura leaves out of an article."""
    members = article_step(view)
    if members is None:
        trail.note("article", None, "trafilatura found nothing")
        return None
    sure = (verdict.probability >= CERTAIN).tolist()
    both = [one and (other or certain) for one, other, certain in zip(kept, members, sure, strict=True)]
    agreed, all_words = size_of(view, both), size_of(view, kept)
    if agreed < ARTICLE_SHARE * all_words:
        trail.note("article", members, f"trafilatura agrees with only {agreed} of {all_words} words")
        return None
    if agreed == all_words:
        trail.note("article", members, "trafilatura leaves nothing out")
        return None
    trail.note("article", members, f"trafilatura leaves out {all_words - agreed} of the words", won=True)
    return both


def choose(view: PageView, steps: Sequence[Step], trail: _Trail | None = None) -> tuple[Selection, str]:
    """Run the steps until one keeps ``ENOUGH`` of the page's content-like words; else the fullest one wins.

    One that keeps less than ``FLOOR`` has missed the content: then it is everything content-like. So it
    is, too, when a step leaves out next to nothing. Returns the selection and the name of its step.
    """
    trail = trail or _Trail(view)
    everything = visible_step(view)
    total = size_of(view, everything) or 1
    best: tuple[float, Selection, str] = (0.0, everything, "visible")
    for step in steps if len(view.blocks) <= _MANY else ():
        name = step.__name__.removesuffix("_step")
        selection = step(view)
        if selection is None:
            trail.note(name, None, "found nothing")
            continue
        selection = mend(view.blocks, selection)
        share = size_of(view, selection) / total
        trail.note(name, selection, f"keeps {share:.0%} of the words outside navigation")
        if share > best[0]:
            best = (share, selection, name)
        if share >= ENOUGH:
            break
    share, selection, name = best
    if share < FLOOR:
        trail.note(
            "visible", everything, f"no step keeps {FLOOR:.0%} of the words outside navigation", won=True
        )
        return everything, "visible"
    either = [one or other for one, other in zip(selection, everything, strict=True)]
    if size_of(view, either) - size_of(view, selection) <= max(LEFT_OVER * total, _SMALL):
        selection = either
    trail.note(
        name, selection, f"{trail.tried[name].reason}: enough" if share >= ENOUGH else "the fullest", won=True
    )
    return selection, name
