"""Bytes as the web sends them: is the right text read, in bounded time and memory?

    python evals/robustness.py [--only charset_matrix,http_bodies,...] [--no-peer]

Sets, each beside trafilatura alone where it can do the same: pages in 30 encodings with true, wrong,
late, missing and bogus declarations (charset_matrix), the encoding tests of html5lib, real feeds in old
encodings (chardet_files), malformed HTML, HTTP bodies served by a real loopback server through the
fetcher (compressed, truncated, lying, bombs, walls), and pages of 5-14 MB, each in a process of its own.

Data: a folder ``robustness`` with ``charset_matrix.jsonl.xz`` (``content_type``, ``body_b64``,
``expected_paragraphs``, ``scenario``), ``html5lib_encoding.jsonl`` (``body_b64``,
``expected_encoding``; from html5lib-tests), ``chardet_labels.jsonl`` and ``chardet_files.tar.xz``
(``file``, ``sample_non_ascii_tokens``; from chardet's tests), ``malformed_html.jsonl.xz``
(``body_b64``, ``must_contain``, ``must_not_contain``), ``http_bodies.jsonl.xz`` (``status``,
``headers``, ``body_b64``, ``expect``, ``must_contain``) and ``giant_pages.tar.xz``.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import DATA, finish, median, need, rows

URL = "https://t.example/page"
SLOW_S = 5.0
"""A small input that takes longer has not been read in bounded time."""
GIANT_S = 30.0
GIANT_MB = 1_500.0
GIANT_SENTENCE = "The harbour clock was rebuilt in 1931 after the fire."
PROBES = {
    "utf-8": "Größe — Zażółć gęślą; Уровень",
    "windows-1252": "Die größte Brücke führt über den Fluß; señor, voilà, naïve",
    "iso-8859-2": "Zażółć gęślą jaźń",
    "iso-8859-7": "Την περασμένη άνοιξη",
    "koi8-r": "Уровень воды поднялся",
    "windows-1251": "Уровень воды поднялся",
    "shift_jis": "水位は上がりました",
    "euc-jp": "水位は上がりました",
    "iso-2022-jp": "水位は上がりました",
    "big5": "水位上升",
    "gbk": "水位上升",
    "euc-kr": "수위가 상승했다",
}

Extract = Callable[[bytes, str], str]


def fold(text: str) -> str:
    """Text as it is compared: NFC, without soft hyphens, zero-width blanks and Markdown's own marks."""
    plain = unicodedata.normalize("NFC", text).replace("\u00ad", "").replace("\u200b", "")
    return " ".join(re.sub(r"[*_`\\]", "", plain).split())


def packed(text: str) -> str:
    return "".join(unicodedata.normalize("NFC", html.unescape(text)).split())


def ours() -> tuple[Any, Extract]:
    from webfetch_core import Settings, Webfetch

    wf = Webfetch(Settings(extract_workers=0, home=tempfile.mkdtemp()), environ={})

    def extract(body: bytes, content_type: str) -> str:
        try:
            document = wf.extract(body, url=URL, content_type=content_type)
        except Exception as exc:
            return f"error: {exc}"
        return f"{document.title}\n{document.text}" if document else ""

    return wf, extract


def peer(body: bytes, _: str) -> str:
    import trafilatura

    try:
        return trafilatura.extract(body, url=URL, include_tables=True, output_format="markdown") or ""
    except Exception as exc:
        return f"error: {exc}"


# ---- encodings -----------------------------------------------------------------------------------


def charset_matrix(data: Path, extract: Extract) -> Iterator[tuple[str, str, bool]]:
    for row in rows(data / "charset_matrix.jsonl.xz"):
        text = packed(extract(base64.b64decode(row["body_b64"]), row["content_type"] or "text/html"))
        yield row["id"], row["scenario"], all(packed(p) in text for p in row["expected_paragraphs"])


def html5lib(data: Path, decode: Callable[[bytes], str]) -> Iterator[tuple[str, str, bool]]:
    """Each test's bytes with a sentence behind them in the encoding that it expects."""
    for row in rows(data / "html5lib_encoding.jsonl"):
        name = row["expected_encoding"].lower()
        probe = PROBES.get(name, PROBES["windows-1252"])
        try:
            body = base64.b64decode(row["body_b64"]) + b"\n" + probe.encode(name)
        except LookupError:
            continue
        yield row["id"], name, probe in decode(body)


def chardet(data: Path, decode: Callable[[bytes], str]) -> Iterator[tuple[str, str, bool]]:
    with tarfile.open(data / "chardet_files.tar.xz") as archive:
        there = set(archive.getnames())
        for row in rows(data / "chardet_labels.jsonl"):
            if row["file"] not in there:
                continue
            member = archive.extractfile(row["file"])
            assert member is not None
            text = packed(decode(member.read()))
            yield row["id"], row["label"], all(packed(t) in text for t in row["sample_non_ascii_tokens"])


# ---- malformed pages -----------------------------------------------------------------------------


def malformed(data: Path, extract: Extract) -> Iterator[tuple[str, str, bool]]:
    for row in rows(data / "malformed_html.jsonl.xz"):
        started = time.perf_counter()
        text = fold(extract(base64.b64decode(row["body_b64"]), "text/html"))
        took = time.perf_counter() - started
        right = all(fold(t) in text for t in row["must_contain"])
        right &= not any(fold(t) in text for t in row["must_not_contain"])
        yield row["id"], "slow" if took > SLOW_S else "text", right and took <= SLOW_S


# ---- bodies over HTTP ----------------------------------------------------------------------------


def http_bodies(data: Path, *, of_peer: bool) -> Iterator[tuple[str, str, bool]]:
    """Each body in a process of its own, so that a bomb's memory can be told."""
    from webfetch_core.testing import LoopbackSite

    with LoopbackSite() as site:
        for row in rows(data / "http_bodies.jsonl.xz"):
            site.add("/page", base64.b64decode(row["body_b64"]), status=row["status"], headers=row["headers"])
            seen = child("peer-url" if of_peer else "url", site.url("/page"))
            text, failed = fold(seen.get("text", "")), not seen.get("text")
            contains = all(fold(t) in text for t in row["must_contain"]) and not failed
            right = {
                "text": contains,
                "error": failed,
                "limit": seen["mb_grown"] < 100 and seen["s"] < SLOW_S,
                "text_or_error": not binary(text),
            }[row["expect"]]
            yield row["id"], row["expect"], right and seen["s"] < GIANT_S


def binary(text: str) -> bool:
    sample = text[:2_000]
    return sum(c < " " or c == "\ufffd" for c in sample) * 20 > len(sample)


# ---- giants, and the child process ---------------------------------------------------------------


def giants(data: Path, *, of_peer: bool, told: dict[str, Any]) -> Iterator[tuple[str, str, bool]]:
    with tempfile.TemporaryDirectory() as folder, tarfile.open(data / "giant_pages.tar.xz") as archive:
        archive.extractall(folder, filter="data")
        for path in sorted(Path(folder).rglob("*.html")):
            seen = child("peer-file" if of_peer else "file", str(path))
            told[path.stem] = {
                "cpu_s": seen["cpu_s"],
                "s": seen["s"],
                "mb": seen["mb"],
                "flags": seen.get("flags", []),
            }
            there = GIANT_SENTENCE in fold(seen.get("text", "")) or "truncated" in seen.get("flags", [])
            bounded = seen["s"] < GIANT_S and seen["mb"] < GIANT_MB
            yield path.stem, f"{seen['cpu_s']:.1f} s, {seen['mb']:.0f} MB", there and bounded


def child(what: str, target: str) -> dict[str, Any]:
    command = [sys.executable, __file__, "--child", what, target]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * GIANT_S, check=False)
        seen: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):  # it hangs, or died
        return {"s": 2 * GIANT_S, "cpu_s": 2 * GIANT_S, "mb": 0.0, "mb_grown": 1e9, "text": ""}
    return seen


def run_child(what: str, target: str) -> None:
    flags: tuple[str, ...] = ()
    text = ""
    if what.startswith("peer"):
        import trafilatura

        trafilatura.extract("<p>warm</p>")
        before, started, busy = memory_mb(), time.perf_counter(), time.process_time()
        body = Path(target).read_bytes() if what == "peer-file" else trafilatura.fetch_url(target)
        text = (trafilatura.extract(body) or "") if body else ""
    else:
        from webfetch_core import Settings, Webfetch
        from webfetch_core.errors import WebfetchError
        from webfetch_core.settings import NetSettings

        home = tempfile.mkdtemp()
        settings = Settings(
            home=home,
            extract_workers=0,
            fetch_timeout_s=GIANT_S,  # the extractor's own limit is nearer; a busy machine is not to blame
            net=NetSettings(allow_hosts=("127.0.0.1",)),
        )
        with Webfetch(settings, environ={}) as wf:
            wf.extract(b"<p>warm</p>", url=URL, content_type="text/html")
            before, started, busy = memory_mb(), time.perf_counter(), time.process_time()
            try:
                if what == "file":
                    document = wf.extract(Path(target).read_bytes(), url=URL, content_type="text/html")
                else:
                    document = wf.fetch(target)
                text, flags = (document.text, document.flags) if document else ("", ())
            except WebfetchError as exc:
                flags = (f"error:{exc.kind}",)
    seen = {
        "s": time.perf_counter() - started,
        "cpu_s": time.process_time() - busy,
        "mb": memory_mb(),
        "mb_grown": memory_mb() - before,
    }
    print(json.dumps({**seen, "text": text, "flags": list(flags)}))


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- the run -------------------------------------------------------------------------------------


def tally(results: Iterator[tuple[str, str, bool]], name: str, *, detailed: bool) -> tuple[int, int]:
    by: dict[str, list[bool]] = defaultdict(list)
    wrong = []
    for what, group, right in results:
        by[group].append(right)
        if not right:
            wrong.append(f"{what} ({group})")
    good, count = sum(map(sum, by.values())), sum(map(len, by.values()))
    print(f"  {name:34} {good:4} of {count}")
    if detailed and len(by) > 1 and len(by) < 25:
        print("    " + ", ".join(f"{g} {sum(v)}/{len(v)}" for g, v in sorted(by.items())))
    for line in wrong[:12] if detailed else []:
        print(f"    wrong: {line}")
    return good, count


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="sets, by name, with commas")
    parser.add_argument("--no-peer", action="store_true", help="leave trafilatura out")
    parser.add_argument("--child", nargs=2, metavar=("WHAT", "TARGET"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_child(*args.child)
        return
    data = need(
        DATA / "robustness" / "charset_matrix.jsonl.xz", "See the docstring for the form of the data."
    ).parent
    wf, extract = ours()
    from webfetch_extract_html import charset

    def decode(body: bytes) -> str:
        return charset.decode(body, {}, "")

    def peer_decode(body: bytes) -> str:
        from trafilatura.utils import decode_file

        return str(decode_file(body))

    told: dict[str, Any] = {}
    peer_told: dict[str, Any] = {}
    sets: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "charset_matrix": (lambda: charset_matrix(data, extract), lambda: charset_matrix(data, peer)),
        "html5lib_encoding": (lambda: html5lib(data, decode), lambda: html5lib(data, peer_decode)),
        "chardet_files": (lambda: chardet(data, decode), lambda: chardet(data, peer_decode)),
        "malformed_html": (lambda: malformed(data, extract), lambda: malformed(data, peer)),
        "http_bodies": (lambda: http_bodies(data, of_peer=False), lambda: http_bodies(data, of_peer=True)),
        "giant_pages": (
            lambda: giants(data, of_peer=False, told=told),
            lambda: giants(data, of_peer=True, told=peer_told),
        ),
    }
    chosen = [name for name in args.only.split(",") if name] or list(sets)
    figures: dict[str, Any] = {}
    with wf:
        for name in chosen:
            mine, theirs = sets[name]
            good, count = tally(mine(), name, detailed=True)
            figures |= {name: good / count, f"{name}_count": count}
            if not args.no_peer:
                good, count = tally(theirs(), f"{name}: trafilatura alone", detailed=False)
                figures[f"{name}_trafilatura"] = good / count
    if told:
        figures |= {
            "giant_cpu_s_median": median([v["cpu_s"] for v in told.values()]),
            "giant_cpu_s_max": max(v["cpu_s"] for v in told.values()),
            "giant_mb_max": max(v["mb"] for v in told.values()),
            "giants": told,
            "giants_trafilatura": peer_told,
        }
        for name, value in told.items():
            print(f"  {name:30} {value['cpu_s']:5.1f} s {value['mb']:6.0f} MB  {', '.join(value['flags'])}")
    finish("robustness", figures)


if __name__ == "__main__":
    main()
