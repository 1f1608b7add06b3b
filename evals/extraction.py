"""How much of the content of pages is extracted, and how little else; and how long that takes.

Word F1 against what people marked as content, pages of four collections (see ``extract_data.py``), beside
trafilatura, readability-lxml and resiliparse in the same run. The classifier was trained on these pages, so
the figures that count are *cross-validated*: each page is read with a model that has not seen its domain
(``evals/extract_folds``, written by ``train_extract.py``). ``--in-sample`` also gives the shipped model's
figures on the pages it was trained on; those say nothing of other pages.

    python evals/extraction.py [--quick] [--in-sample] [--show N]

The first line of ours is of the Markdown of the content; ``(document)`` is the whole of ``Document.text``,
title and description of the head included, which no truth has. Snippets (``traf``): those wanted that are
there and those unwanted that are not, as F1. Times are of the processor, so that a busy machine adds little
to them. Needs resiliparse for its line; takes about four minutes on two idle cores.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen
from common import finish, mean, median
from extract_data import TYPES, Sample, fold, holds, samples, word_scores, words
from lxml import html as lxml_html
from webfetch_extract_html.html import HtmlExtractor
from webfetch_extract_html.settings import ExtractHtmlSettings

from webfetch_core.api import Page

FOLD_MODELS = Path(__file__).parent / "extract_folds"
OURS = "webfetch, cross-validated"
SHIPPED = "webfetch, IN SAMPLE"
DOCUMENT = " (document)"


@frozen(kw_only=True)
class Outcome:
    """``scores`` (F1, precision, recall), ``snippets`` (wanted there, unwanted there, wanted) and ``ms`` by
    extractor; ``step`` is who won in ours."""

    sample_id: str
    collection: str
    page_type: str
    scores: dict[str, tuple[float, float, float]]
    snippets: dict[str, tuple[int, int, int]]
    ms: dict[str, float]
    step: str
    found_type: str


@cache
def extractor(model: str) -> HtmlExtractor:
    settings = ExtractHtmlSettings()
    if model == "shipped":
        return HtmlExtractor(settings)
    return HtmlExtractor(settings, model_file=FOLD_MODELS / f"{model}.bin")


def trafilatura_text(sample: Sample) -> str:
    import trafilatura

    return trafilatura.extract(sample.body.decode("utf-8", "replace"), url=sample.url or None) or ""


def readability_text(sample: Sample) -> str:
    from readability import Document

    summary = Document(sample.body.decode("utf-8", "replace")).summary(html_partial=True)
    return " ".join(lxml_html.fromstring(summary).itertext())


def resiliparse_text(sample: Sample) -> str:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(sample.body.decode("utf-8", "replace"))
    return str(extract_plain_text(tree, main_content=True))


PEERS: dict[str, Callable[[Sample], str]] = {
    "trafilatura": trafilatura_text,
    "readability-lxml": readability_text,
    "resiliparse": resiliparse_text,
}


def measure(task: tuple[Sample, bool]) -> Outcome:
    """Run every extractor on a page."""
    sample, in_sample = task
    page = Page(url=sample.url, body=sample.body, content_type="text/html")
    texts: dict[str, str] = {}
    ms: dict[str, float] = {}
    step = found_type = ""
    models = {OURS: f"fold{fold(sample)}"} | ({SHIPPED: "shipped"} if in_sample else {})
    for name, model in models.items():
        ours = extractor(model)
        began = time.process_time()
        found = ours.find(page)
        body = found.body if found else ""
        document = ours.document(page.url, found) if found else None
        ms[name] = 1_000 * (time.process_time() - began)
        texts[name] = body
        texts[name + DOCUMENT] = document.text if document else ""
        if name == OURS and document:
            step, found_type = document.metadata["extracted_by"], document.page_type
    for name, peer in PEERS.items():
        began = time.process_time()
        try:
            texts[name] = peer(sample)
        except Exception:  # what it fails on is nothing found
            texts[name] = ""
        ms[name] = 1_000 * (time.process_time() - began)
    scores, snippets = {}, {}
    for name, text in texts.items():
        if sample.truth is not None:
            scores[name] = word_scores(text, sample.truth)
        elif sample.wanted or sample.unwanted:
            found_words = words(text)
            kept = sum(holds(found_words, each) for each in sample.wanted)
            leaked = sum(holds(found_words, each) for each in sample.unwanted)
            snippets[name] = (kept, leaked, len(sample.wanted))
    return Outcome(
        sample_id=sample.id,
        collection=sample.collection,
        page_type=sample.page_type,
        scores=scores,
        snippets=snippets,
        ms=ms,
        step=step,
        found_type=found_type,
    )


def snippet_f1(outcomes: Sequence[Outcome], name: str) -> float:
    kept = sum(o.snippets[name][0] for o in outcomes if name in o.snippets)
    leaked = sum(o.snippets[name][1] for o in outcomes if name in o.snippets)
    wanted = sum(o.snippets[name][2] for o in outcomes if name in o.snippets)
    return 2 * kept / (kept + leaked + wanted) if wanted else 0.0


def tell(outcomes: Sequence[Outcome], names: Sequence[str]) -> dict[str, dict[str, float]]:
    """Print the table and return it."""
    groups: dict[str, list[Outcome]] = defaultdict(list)
    for each in outcomes:
        groups[each.collection].append(each)
        if each.collection == "wcxb":
            groups[each.page_type].append(each)
    columns = [c for c in ("wcxb", *TYPES, "aeb", "rdb") if groups[c]]
    print(f"{'word F1':38}" + "".join(f"{column[:10]:>11}" for column in columns) + f"{'P':>7}{'R':>7}")
    print(f"{'pages':38}" + "".join(f"{len(groups[column]):>11}" for column in columns))
    table: dict[str, dict[str, float]] = {}
    for name in names:
        row = {column: mean([o.scores[name][0] for o in groups[column]]) for column in columns}
        for place, figure in ((1, "precision"), (2, "recall")):
            row[figure] = mean([o.scores[name][place] for o in groups["wcxb"]])
        print(
            f"{name:38}"
            + "".join(f"{row[column]:>11.3f}" for column in columns)
            + f"{row['precision']:>7.3f}{row['recall']:>7.3f}"
        )
        if groups["traf"]:
            row["traf"] = snippet_f1(groups["traf"], name)
        table[name] = row
    return table


def main() -> None:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--quick", action="store_true", help="only wcxb and aeb")
    parser.add_argument("--in-sample", action="store_true", help="the shipped model on its own pages, too")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="list the N worst pages")
    options = parser.parse_args()
    collections = ("wcxb", "aeb") if options.quick else ("wcxb", "aeb", "rdb", "traf")
    with ProcessPoolExecutor(2) as pool:
        tasks = ((sample, options.in_sample) for sample in samples(*collections))
        outcomes = list(pool.map(measure, tasks, chunksize=4))
    ours = [OURS, SHIPPED] if options.in_sample else [OURS]
    names = [text for name in ours for text in (name, name + DOCUMENT)] + list(PEERS)
    table = tell(outcomes, names)
    figures: dict[str, Any] = {"pages": len(outcomes), "table": table}
    if not options.quick:
        print("\nsnippets (traf): " + ", ".join(f"{n} {table[n]['traf']:.3f}" for n in (OURS, *PEERS)))
    ms = {name: median([o.ms[name] for o in outcomes]) for name in (*ours, *PEERS)}
    print(
        "\nms of processor time a page, median: "
        + ", ".join(f"{name} {value:.1f}" for name, value in ms.items())
    )
    ratio = median([o.ms[OURS] / o.ms["trafilatura"] for o in outcomes if o.ms["trafilatura"] > 0])
    print(f"time of trafilatura: {ratio:.2f} (median of the pages' ratios)")
    steps = defaultdict(int)
    for each in outcomes:
        steps[each.step or "none"] += 1
    print("steps that won: " + ", ".join(f"{name} {count}" for name, count in sorted(steps.items())))
    typed = [o for o in outcomes if o.collection == "wcxb" and o.found_type]
    right = mean([float(o.found_type == o.page_type) for o in typed])
    print(f"page type right: {right:.3f} of {len(typed)}")
    if options.show:
        scored = sorted((o for o in outcomes if o.scores), key=lambda o: o.scores[OURS][0])
        for each in scored[: options.show]:
            f1, precision, recall = each.scores[OURS]
            print(
                f"  {f1:.2f} P {precision:.2f} R {recall:.2f} {each.sample_id} {each.page_type} {each.step}"
            )
    row = table[OURS]
    figures |= {f"cv_{name}": row[name] for name in ("wcxb", *TYPES, "aeb")}
    figures |= {
        "cv_document_wcxb": table[OURS + DOCUMENT]["wcxb"],
        "cv_document_aeb": table[OURS + DOCUMENT]["aeb"],
    }
    figures |= {
        "cv_over_trafilatura": row["wcxb"] - table["trafilatura"]["wcxb"],
        "ms_median": ms[OURS],
        "time_of_trafilatura": ratio,
        "page_type_right": right,
    }
    if not options.quick:
        figures["cv_snippets"] = row["traf"]
    finish("extraction", figures)


if __name__ == "__main__":
    main()
