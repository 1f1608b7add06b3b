"""What was counted, and what that comes to in money: counters are exact, dollars are estimates.

Pure arithmetic and text. Every figure of an estimate rests on :class:`Assumptions`, and each of
those can be given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import Factory, field, frozen

from ..field_checks import is_number, must
from ..models import Document, ProvenanceKind, SearchResult
from .render import CHARS_PER_TOKEN

FROM_CACHE = (
    ProvenanceKind.EXACT,
    ProvenanceKind.SEMANTIC,
    ProvenanceKind.STALE,
    ProvenanceKind.FINDING,
)


# ---- what is counted -----------------------------------------------------------------------------


def tally_search(result: SearchResult) -> dict[str, int]:
    """What one search adds to the counters."""
    counts = {"searches": 1, f"served_{result.provenance.kind}": 1}
    return counts if result.chunks else {**counts, "searches_empty": 1}


def tally_page(outcome: str, document: Document | None = None) -> dict[str, int]:
    """What one page adds: ``outcome`` is ``fetched``, ``cached``, ``renewed`` or ``failed``."""
    return {f"pages_{outcome}": 1, "chars_read": len(document.text) if document is not None else 0}


def tally_text(result: SearchResult, text: str) -> dict[str, int]:
    """What one result that was written for a model adds; one without an answer costs its characters."""
    return {"results_handed_out": int(bool(result.chunks)), "chars_handed_out": len(text)}


def tally_fee(cost_usd: float) -> dict[str, int]:
    """What one call of an engine adds, in millionths of a dollar: sums of whole numbers stay exact."""
    return {"fees_micro_usd": round(cost_usd * 1_000_000)}


# ---- what it comes to ----------------------------------------------------------------------------

_MOST = 1e9
_price = must("a number from 0 to 1,000,000,000", lambda v: is_number(v) and 0 <= v <= _MOST)


@frozen(kw_only=True)
class Assumptions:
    """What the estimates rest on. None of it was measured on this machine.

    Attributes:
        usd_per_1k_searches: what a hosted search tool charges for 1,000 searches. $10: the list price
            of Anthropic's and of OpenAI's, as the README of webfetch-llm gives it in 2026-07.
        hosted_tokens: input tokens that a hosted search brings into the context. 17,400: that project's
            published run of 2026-07 has 17,408 for a question (Anthropic's tool, 50 questions of
            SimpleQA). A question may take more than one search, so it is rather too high.
        own_tokens: input tokens of a search of ours, for searches whose text was not written here and
            so was not counted. 3,500: the same run has 3,467 for a question.
        usd_per_million_tokens: what a million input tokens of your model cost. $5: an example, of the
            size of a large model's list price in 2026. Caching of prompts makes tokens cheaper, and
            every later turn that keeps a result pays for them again; neither is reckoned.
    """

    usd_per_1k_searches: float = field(default=10.0, validator=_price)
    hosted_tokens: float = field(default=17_400.0, validator=_price)
    own_tokens: float = field(default=3_500.0, validator=_price)
    usd_per_million_tokens: float = field(default=5.0, validator=_price)


@frozen(kw_only=True)
class Estimate:
    """What hosted searches would have come to, less what ours did. Dollars and tokens; never exact.

    Attributes:
        searches: those that found something: nothing is said to be saved by the others.
        hosted_fees_usd: what a hosted tool would have charged for them.
        own_fees_usd: what the engines asked for theirs, by their list prices; it counts against us.
        hosted_tokens, own_tokens: what each would have brought, and did bring, into the context.
        tokens_usd: what the difference of the tokens costs; negative where ours were more.
        avoided_usd: all of it together.
    """

    searches: int
    hosted_fees_usd: float
    own_fees_usd: float
    hosted_tokens: float
    own_tokens: float
    tokens_usd: float
    avoided_usd: float


@frozen(kw_only=True)
class Receipt:
    """One column of the report: ``counts`` are exact, ``estimate`` is not."""

    counts: Mapping[str, int]
    estimate: Estimate


@frozen(kw_only=True)
class SavingsReport:
    """What was done, in this session and by everybody who has used this cache.

    Attributes:
        session: what this ``Webfetch`` did in this process.
        lifetime: the sums over all processes; the session's alone where there is no cache.
        assumptions: what the estimates rest on.
        kept: whether anything is counted beyond the session.
        update: a line on a newer version; empty when there is none, or nobody asked.
        update_problem: why it is not known whether there is one.
    """

    session: Receipt
    lifetime: Receipt
    assumptions: Assumptions = Factory(Assumptions)
    kept: bool = True
    update: str = ""
    update_problem: str = ""

    @property
    def text(self) -> str:
        """The report for a reader."""
        return "\n".join(_lines(self))


def receipt(counts: Mapping[str, int], assumed: Assumptions) -> Receipt:
    """Return one column of the report."""
    return Receipt(counts=dict(counts), estimate=estimate(counts, assumed))


def estimate(counts: Mapping[str, int], assumed: Assumptions) -> Estimate:
    """Return what hosted searches would have come to beyond what ours did.

    Texts that were handed out are counted at four characters a token; searches beyond their number
    have ``assumed.own_tokens`` each.
    """
    found = max(counts.get("searches", 0) - counts.get("searches_empty", 0), 0)
    uncounted = max(found - counts.get("results_handed_out", 0), 0)
    own_tokens = counts.get("chars_handed_out", 0) / CHARS_PER_TOKEN + uncounted * assumed.own_tokens
    hosted_tokens = found * assumed.hosted_tokens
    hosted_fees = found * assumed.usd_per_1k_searches / 1_000
    own_fees = counts.get("fees_micro_usd", 0) / 1_000_000
    tokens_usd = (hosted_tokens - own_tokens) * assumed.usd_per_million_tokens / 1_000_000
    return Estimate(
        searches=found,
        hosted_fees_usd=hosted_fees,
        own_fees_usd=own_fees,
        hosted_tokens=hosted_tokens,
        own_tokens=own_tokens,
        tokens_usd=tokens_usd,
        avoided_usd=hosted_fees - own_fees + tokens_usd,
    )


# ---- text ----------------------------------------------------------------------------------------

_COUNTED = (
    ("searches", "searches"),
    ("searches_failed", "  that failed, beside these"),
    ("searches_cancelled", "  that were cancelled, beside these"),
    ("served_fresh", "  searched afresh"),
    ("served_exact", "  the same query, from the cache"),
    ("served_semantic", "  the same in other words, from the cache"),
    ("served_stale", "  stale, refreshed behind"),
    ("served_finding", "  saved by a model, unverified"),
    ("served_none", "  not in the cache, and kept to it"),
    ("searches_empty", "  of all these without an answer"),
    ("pages_fetched", "pages fetched"),
    ("pages_renewed", "pages that had not changed"),
    ("pages_cached", "pages from the cache"),
    ("pages_failed", "pages that gave nothing"),
    ("chars_read", "characters of pages read"),
    ("results_handed_out", "results handed out"),
    ("chars_handed_out", "characters of them"),
    ("findings_saved", "findings saved"),
)
_LABEL, _COLUMN = 44, 16


def _lines(report: SavingsReport) -> Iterator[str]:
    shown = {"this session": report.session} if report.session.counts or not report.kept else {}
    shown |= {"lifetime": report.lifetime} if report.kept else {}
    columns = list(shown.values())
    yield _row("", list(shown))
    yield "counted"
    for name, label in _COUNTED:
        numbers = [column.counts.get(name, 0) for column in columns]
        if any(numbers) or name == "searches":
            yield _row(f"  {label}", [f"{n:,}" for n in numbers])
    yield _row("  served without a search", [_share(column.counts) for column in columns])
    estimates = [column.estimate for column in columns]
    yield ""
    yield "estimated, by the assumptions below"
    yield _row("  fees of a hosted search", [_usd(e.hosted_fees_usd) for e in estimates])
    yield _row("  fees of the engines, by list price", [_usd(-e.own_fees_usd) for e in estimates])
    yield _row("  input tokens fewer", [f"~{e.hosted_tokens - e.own_tokens:,.0f}" for e in estimates])
    yield _row("  what they would have cost", [_usd(e.tokens_usd) for e in estimates])
    yield _row("  not spent, all together", [_usd(e.avoided_usd) for e in estimates])
    yield ""
    yield "assumptions"
    yield from _assumptions(report.assumptions)
    if not report.kept:
        yield ""
        yield "There is no cache, so nothing is counted beyond this session: pip install webfetch-cache-lmdb"
    if report.update:
        yield ""
        yield report.update


def _assumptions(assumed: Assumptions) -> Iterator[str]:
    def told(name: str, source: str) -> str:
        return source if getattr(assumed, name) == getattr(Assumptions(), name) else "given"

    fee, hosted, own, price = (
        told("usd_per_1k_searches", "list price, 2026-07"),
        told("hosted_tokens", "a published run of 2026-07: a question of SimpleQA"),
        told("own_tokens", "the same run"),
        told("usd_per_million_tokens", "an example: give your model's"),
    )
    yield "  every search that found something stands for one hosted search"
    yield f"  1,000 hosted searches cost ${assumed.usd_per_1k_searches:,.2f} ({fee})"
    yield f"  each brings {assumed.hosted_tokens:,.0f} input tokens ({hosted})"
    yield f"  ours bring what was handed out, at {CHARS_PER_TOKEN} characters a token; those of which nothing"
    yield f"    was, {assumed.own_tokens:,.0f} ({own})"
    yield f"  a million input tokens cost ${assumed.usd_per_million_tokens:,.2f} ({price})"


def _row(label: str, cells: list[str]) -> str:
    return label.ljust(_LABEL) + "".join(cell.rjust(_COLUMN) for cell in cells)


def _share(counts: Mapping[str, int]) -> str:
    served = sum(counts.get(f"served_{kind}", 0) for kind in FROM_CACHE)
    return f"{served / counts['searches']:.0%}" if counts.get("searches") else "-"


def _usd(amount: float) -> str:
    digits = 2 if abs(amount) >= 0.1 or amount == 0 else 4
    return f"~{'-' if amount < 0 else ''}${abs(amount):,.{digits}f}"
