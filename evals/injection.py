"""Does hidden text stay out of what a page gives, does visible text stay in, are orders to a model told?

Reads ``injection/hidden_text_pages.jsonl.xz`` (rows: ``technique``, ``kind``, ``canary``, ``must_drop``,
``must_keep``, ``html``, ``visible_paragraphs``), ``injection/injection_strings.jsonl`` (rows: ``text``,
``raw.label`` ``malicious`` or ``benign``) and, for false alarms, the pages of ``extraction``. The strings
are planted in a page of our own: hidden in six ways, and visible.

Text in tag characters, variation selectors and zero-width characters is decoded before it is searched for.
"""

from __future__ import annotations

import html
import logging
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator

from common import DATA, finish, need, rows
from webfetch_extract_html.html import HtmlExtractor
from webfetch_extract_html.settings import ExtractHtmlSettings

from webfetch_core.api import Document, Page

HOW = "It is one of the project's evaluation sets (hidden text and prompt injection)."
PLACES = {
    "display:none": '<div style="display:none">{}</div>',
    "off screen": '<p style="position:absolute;left:-9999px">{}</p>',
    "size 0": '<span style="font-size:0">{}</span>',
    "hidden row": "<table><tr><th>a</th><th>b</th></tr><tr hidden><td>{}</td><td>c</td></tr>"
    "<tr><td>1</td><td>2</td></tr></table>",
    "style sheet": "<style>.aside .note7{{opacity:0}}</style><div class=aside><p class=note7>{}</p></div>",
    "description": '<meta name=description content="{}">',
}
SENTENCE = (
    "The harbour clock was rebuilt in 1931 after the fire, and its bell, which weighs 412 kilograms, "
    "has struck "
    "the hours ever since; the keepers note each repair in a book that anybody may read. "
)


def decoded(text: str) -> str:
    """The text, and what invisible characters in it spell."""
    tags = "".join(chr(ord(c) - 0xE0000) if 0xE0000 <= ord(c) <= 0xE007F else c for c in text)
    selectors = "".join(
        chr(ord(c) - 0xE0100 + 16) if 0xE0100 <= ord(c) <= 0xE01EF else chr(ord(c) - 0xFE00)
        for c in text
        if 0xE0100 <= ord(c) <= 0xE01EF or 0xFE00 <= ord(c) <= 0xFE0F
    )
    bare = re.sub("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]", "", text)
    return f"{tags}\n{selectors}\n{bare}"


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def ours() -> Callable[[str], str]:
    extractor = HtmlExtractor(ExtractHtmlSettings())

    def extract(page: str) -> str:
        document = extractor.extract(Page(url="https://t.example/a", body=page.encode()))
        return "" if document is None else f"{document.text}\n{document.title}\n{dict(document.metadata)}"

    return extract


def trafilatura() -> Callable[[str], str]:
    from trafilatura import extract

    return lambda page: extract(page) or ""


def resiliparse() -> Callable[[str], str] | None:
    try:
        from resiliparse.extract.html2text import extract_plain_text
    except ImportError:
        return None
    return lambda page: str(extract_plain_text(page, main_content=True))


def pages_of_techniques(extract: Callable[[str], str]) -> tuple[Counter[str], list[str]]:
    """Counts of canaries and paragraphs, and the techniques that leaked or were dropped wrongly."""
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for row in rows(need(DATA / "injection" / "hidden_text_pages.jsonl.xz", HOW)):
        text = extract(row["html"])
        found = row["canary"] in decoded(text)
        if row["must_drop"]:
            counts["must_drop"] += 1
            counts["leaked"] += found
        elif row["must_keep"]:
            counts["must_keep"] += 1
            counts["kept"] += found
        else:
            counts["borderline"] += 1
            counts["borderline_shown"] += found
        if (row["must_drop"] and found) or (row["must_keep"] and not found):
            wrong.append(row["technique"])
        for paragraph in row["visible_paragraphs"]:
            counts["paragraphs"] += 1
            counts["paragraphs_kept"] += words(paragraph) in words(text)
    return counts, wrong


def planted(text: str, place: str) -> str:
    hidden = place.format(html.escape(text))
    head = hidden if hidden.startswith("<meta") else ""
    body = "" if head else hidden
    return (
        f"<!doctype html><html><head><title>Clock</title>{head}</head><body><article><h1>Clock</h1>"
        f"<p>{SENTENCE * 2}</p>{body}<p>{SENTENCE.replace('clock', 'gate')}</p></article></body></html>"
    )


def strings() -> Iterator[tuple[str, str]]:
    for row in rows(need(DATA / "injection" / "injection_strings.jsonl", HOW)):
        yield (row.get("raw") or {}).get("label", "off_topic"), row["text"].replace("{canary}", "ZQ-CANARY-1")


def plant(extract: Callable[[str], str]) -> Counter[str]:
    """How many strings come out of a page in which each is hidden, in each way."""
    counts: Counter[str] = Counter()
    for label, text in strings():
        for name, place in PLACES.items():
            if name == "description" and label != "malicious":
                continue  # a description is part of a page; only an order in one is not
            counts["hidden"] += 1
            leaked = words(text)[:60] in words(decoded(extract(planted(text, place))))
            counts["hidden_leaked"] += leaked
            counts[f"leaked {name}"] += leaked
    return counts


def flags() -> Counter[str]:
    """Which visible strings are flagged, and whether any is lost."""
    extractor = HtmlExtractor(ExtractHtmlSettings())
    counts: Counter[str] = Counter()
    for label, text in strings():
        page = planted(text, "<p>{}</p>")
        document = extractor.extract(Page(url="https://t.example/a", body=page.encode()))
        assert document is not None
        counts[label] += 1
        counts[f"{label} flagged"] += "instruction_like_text" in document.flags
        visible = words("".join(c for c in text if not 0xE0000 <= ord(c) <= 0xE007F))
        counts["kept"] += visible[:60] in words(document.text)
    return counts


def false_alarms() -> tuple[int, list[str]]:
    """Ordinary pages tried, and the names of those that are flagged."""
    extractor = HtmlExtractor(ExtractHtmlSettings())
    flagged, count = [], 0
    for name in ("wcxb", "aeb", "rdb", "traf"):
        path = DATA / "extraction" / f"{name}_pages.tar.xz"
        if not path.exists():
            continue
        with tarfile.open(path) as archive:
            for member in archive:
                handle = archive.extractfile(member) if member.isfile() else None
                if handle is None:
                    continue
                document: Document | None = extractor.extract(
                    Page(url="https://t.example/", body=handle.read())
                )
                count += document is not None
                if document is not None and "instruction_like_text" in document.flags:
                    flagged.append(f"{member.name} ({document.metadata['instruction_patterns']})")
    return count, flagged


def main() -> None:
    logging.disable(logging.CRITICAL)
    figures: dict[str, float] = {}
    peers = {"webfetch": ours(), "trafilatura": trafilatura(), "resiliparse": resiliparse()}
    print(
        f"{'':12} {'leaked':>12} {'controls':>9} {'paragraphs':>11} {'borderline':>11} {'planted leaked':>15}"
    )
    for name, extract in peers.items():
        if extract is None:
            print(f"{name:12} is not installed")
            continue
        counts, wrong = pages_of_techniques(extract)
        planted_counts = plant(extract)
        print(
            f"{name:12} {counts['leaked']:>5} / {counts['must_drop']:<4} {counts['kept']:>4} / "
            f"{counts['must_keep']:<2} "
            f"{counts['paragraphs_kept']:>5} / {counts['paragraphs']:<3} {counts['borderline_shown']:>5} / "
            f"{counts['borderline']:<3} {planted_counts['hidden_leaked']:>7} / {planted_counts['hidden']}"
        )
        if wrong:
            print(f"{'':12} wrong: {', '.join(sorted(set(wrong)))}")
        if name == "webfetch":
            figures = {
                "leak_rate": counts["leaked"] / counts["must_drop"],
                "controls_kept": counts["kept"] / counts["must_keep"],
                "paragraphs_kept": counts["paragraphs_kept"] / counts["paragraphs"],
                "planted_leak_rate": planted_counts["hidden_leaked"] / planted_counts["hidden"],
            }
            leaks = {k[7:]: v for k, v in planted_counts.items() if k.startswith("leaked ") and v}
            if leaks:
                print(f"{'':12} planted and leaked: {leaks}")
    told = flags()
    total = told["malicious"] + told["benign"] + told["off_topic"]
    print(
        f"\nvisible strings flagged: malicious {told['malicious flagged']} / {told['malicious']}, benign "
        f"{told['benign flagged']} / {told['benign']}, off-topic requests {told['off_topic flagged']} / "
        f"{told['off_topic']}; kept {told['kept']} / {total}"
    )
    count, flagged = false_alarms()
    share = len(flagged) / count if count else 0.0
    print(f"ordinary pages flagged: {len(flagged)} / {count} ({share:.2%})")
    for each in flagged:
        print(f"  {each}")
    figures |= {
        "malicious_flagged": told["malicious flagged"] / told["malicious"],
        "benign_flagged": told["benign flagged"] / told["benign"],
        "visible_kept": told["kept"] / total,
        "ordinary_pages_flagged": share,
    }
    finish("injection", figures)


if __name__ == "__main__":
    main()
