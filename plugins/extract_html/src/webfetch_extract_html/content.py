"""Which blocks of a page are its content, by whom that was decided, and why.

The classifier is asked first. On articles trafilatura's opinion narrows its choice (the article step). Where
the classifier cannot be asked, keeps little or expects little of its own choice, the other steps are run and
the better attested choice wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from webfetch_core.api import ExtractionStep

from .steps import PageView, Selection, Step, article_step, mend, size_of, visible_step

if TYPE_CHECKING:
    from .classifier.classify import Verdict

MODEL_FILE = Path(__file__).with_name("classifier") / "model.bin"

ENOUGH, FLOOR, LEFT_OVER = 0.6, 0.4, 0.1
"""Shares of the content-like words; measured on pages of seven types by word F1 of the kept text."""

LITTLE, UNSURE = 20, 0.3
"""A choice of the classifier is doubted if it has fewer words, or if it expects a lower word F1 of it."""
PLENTY, CREDIBLE = 150, 0.12
"""What another step found instead is believed if it has so many words, or if the classifier gives its words
so much chance on average: a page that shows nothing but trimmings has no content (a browser may find it)."""
ARTICLE, ARTICLE_SHARE, CERTAIN = 0.5, 0.5, 0.8
"""The article step is run where an article is this likely; it narrows the choice if it agrees with this share
of its words; blocks of this probability, tables and code stay whatever it says. Chosen by cross-validated
word F1."""

TRIFLE, TRIFLE_SHARE = 15, 0.02
"""Words, and share of the choice, up to which the article step takes nothing away: a caption or a note that
it does not know is no trimming."""

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

    def lost(self, name: str, reason: str) -> None:
        """Take back that a step has won."""
        self.tried[name] = evolve(self.tried[name], won=False, reason=reason)


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
    if words < LITTLE or verdict.expected_f1 < UNSURE:
        why = f"{said}: only {words} words" if words < LITTLE else f"{said}: unsure"
        trail.note("classifier", kept, why)
        other, step = choose(view, chain, trail)
        if size_of(view, other) > 2 * words and _credible(view, verdict, other):
            return other, step
        trail.lost(step, "hardly more than the classifier's choice, or most likely trimmings")
        trail.note("classifier", kept, f"{why}, but nothing better attested was found", won=bool(words))
        return kept, "classifier"
    kept = mend(view.blocks, kept)
    trail.note("classifier", kept, said, won=True)
    if verdict.types.get("article", 0.0) > ARTICLE:
        kept = _narrowed(view, verdict, kept, trail) or kept
    return _with_crumbs(view, kept, _SMALL), "classifier"


def _with_crumbs(view: PageView, selection: Selection, most: float) -> Selection:
    """The selection and all that is content-like, where that adds ``most`` words at most."""
    either = [one or other for one, other in zip(selection, visible_step(view), strict=True)]
    return either if size_of(view, either) - size_of(view, selection) <= most else selection


def _credible(view: PageView, verdict: Verdict, other: Selection) -> bool:
    words = size_of(view, other)
    chances = zip(view.blocks, other, verdict.probability.tolist(), strict=True)
    likely = sum(len(block.tokens) * chance for block, keep, chance in chances if keep)
    return words >= PLENTY or likely >= CREDIBLE * words


def _narrowed(view: PageView, verdict: Verdict, kept: Selection, trail: _Trail) -> Selection | None:
    """The classifier's choice without what trafilatura leaves out of an article."""
    members = article_step(view)
    if members is None:
        trail.note("article", None, "trafilatura found nothing")
        return None
    sure = [
        chance >= CERTAIN or block.kind in ("table", "code")
        for block, chance in zip(view.blocks, verdict.probability.tolist(), strict=True)
    ]
    both = [one and (other or certain) for one, other, certain in zip(kept, members, sure, strict=True)]
    agreed, all_words = size_of(view, both), size_of(view, kept)
    if agreed < ARTICLE_SHARE * all_words:
        trail.note("article", members, f"trafilatura agrees with only {agreed} of {all_words} words")
        return None
    if all_words - agreed <= max(TRIFLE, TRIFLE_SHARE * all_words):
        trail.note("article", members, "trafilatura leaves out next to nothing")
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
        why = f"no step keeps {FLOOR:.0%} of the words outside navigation"
        trail.note("visible", everything, why, won=any(everything))
        return everything, "visible"
    selection = _with_crumbs(view, selection, max(LEFT_OVER * total, _SMALL))
    trail.note(
        name, selection, f"{trail.tried[name].reason}: enough" if share >= ENOUGH else "the fullest", won=True
    )
    return selection, name
