"""A report of the newest runs, with plots.

    python evals/report.py [--runs evals/runs] [--out evals/report]

Reads what the other scripts wrote to ``evals/runs`` and writes ``report.md`` and, for what there is:

- ``compression_frontier.svg``: answers kept against tokens, by arm and set (``compression.py``);
- ``lists.svg``: entries of lists kept against tokens (``lists.py``);
- ``rank_speed.svg``, ``rank_speed_without_amx.svg``: time to rank, beside the reference in the same run
  (``rank_speed.py``);
- ``matcher.svg``: precision against the share of rewordings found, by set and verifier (``matcher.py``);
- ``rerank.svg``: nDCG@10 by set and scorer (``rerank.py``).

Of each eval the newest run that holds what is drawn counts; one that was never run is named in the report.
The plots need matplotlib (``pip install -r evals/requirements.txt``); without it the report has its tables.
Nothing is measured here.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from attrs import frozen
from common import ROOT, RUNS

OUT = ROOT / "evals" / "report"
SCORERS = ("bm25", "biencoder", "rrf", "zscore", "default")
_NDCG = re.compile(rf"(?P<set>.+?)_(?P<arm>{'|'.join(SCORERS)})_ndcg10")

Run = dict[str, Any]
Draw = Callable[[Any], None]


def newest(runs: Path, name: str, holds: Callable[[Run], bool]) -> Run | None:
    """The newest run of the eval ``name`` for which ``holds``; a run that cannot be read is passed over."""
    for path in sorted(runs.glob(f"{name}_*.json"), key=_stamp, reverse=True):
        try:
            run: Run = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(run, dict) and run.get("eval") == name and holds(run):
            return {**run, "when": _stamp(path)}
    return None


def _stamp(path: Path) -> str:
    return path.stem.rpartition("_")[2]


def table(head: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def source(run: Run) -> str:
    return f"Run of {run['when']}: {run.get('machine', 'machine not told')}."


# ---- compression ---------------------------------------------------------------------------------


def compression(run: Run) -> tuple[str, Draw]:
    points = run["frontier"]
    sets = list(dict.fromkeys(point["set"] for point in points))
    body = [
        [p["set"], p["arm"], p["budget"] or "", f"{p['kept']} of {p['of']}", p["tokens"], p["ms_p50"] or ""]
        for p in points
    ]
    text = table(["set", "arm", "budget, characters", "answers kept", "mean tokens", "ms, p50"], body)

    def draw(plt: Any) -> None:
        _, axes = plt.subplots(1, len(sets), figsize=(4.6 * len(sets), 4.2), squeeze=False)
        for axis, name in zip(axes[0], sets, strict=True):
            mine = [p for p in points if p["set"] == name]
            others: str | None = "published, not measured here"
            for arm in dict.fromkeys(p["arm"] for p in mine):
                some = sorted((p for p in mine if p["arm"] == arm), key=lambda p: p["tokens"])
                of = max(p["kept"] for p in mine) if name == "captured" else some[0]["of"]
                xs, ys = [p["tokens"] for p in some], [p["kept"] / of for p in some]
                if arm.startswith("published"):
                    axis.plot(xs, ys, "x", color="0.6", markersize=5, label=others)
                    others = None
                elif len(some) == 1:
                    axis.plot(xs, ys, "s", label=arm, markersize=6)
                else:
                    axis.plot(xs, ys, "o-", label=arm, markersize=4)
            axis.set(
                title=f"{name} (n = {of})", xlabel="mean tokens of a result", ylabel="share of answers kept"
            )
            axis.set_ylim(top=1.01)
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7, loc="lower right")

    return text, draw


def lists(run: Run) -> tuple[str, Draw]:
    lines = run["lists"]
    body = [
        [x["arm"], x["top"], x["budget"] or "", f"{x['recall']:.3f}", x["whole"], x["tokens"]] for x in lines
    ]
    text = table(["arm", "chunks", "budget, characters", "item recall", "whole lists", "mean tokens"], body)

    def draw(plt: Any) -> None:
        _, axis = plt.subplots(figsize=(5.2, 4.0))
        for arm in dict.fromkeys(line["arm"] for line in lines):
            some = sorted((x for x in lines if x["arm"] == arm), key=lambda x: x["tokens"])
            axis.plot([x["tokens"] for x in some], [x["recall"] for x in some], "o", label=arm, markersize=5)
        axis.set(title="12 lists", xlabel="mean tokens of a result", ylabel="item recall")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7, loc="lower right")

    return text, draw


# ---- ranking -------------------------------------------------------------------------------------


def rank_speed(run: Run) -> tuple[str, Draw]:
    arms = run["arms"]

    def cell(arm: Run, key: str, form: str) -> str:
        return format(arm[key], form) if isinstance(arm.get(key), (int, float)) else ""

    body = [
        [
            arm["name"],
            arm["chunks"],
            cell(arm, "median_ms", ",.0f"),
            cell(arm, "ratio", ".2f"),
            cell(arm, "overlap30", ".3f"),
            cell(arm, "peak_mb", ",.0f"),
        ]
        for arm in arms
    ]
    text = table(["arm", "chunks", "median ms", "times as fast", "top-30 overlap", "peak MB"], body)

    def draw(plt: Any) -> None:
        names = list(dict.fromkeys(arm["name"] for arm in arms))[::-1]
        sizes = sorted({arm["chunks"] for arm in arms})
        _, axis = plt.subplots(figsize=(7.0, 1.2 + 0.32 * len(names) * len(sizes)))
        height = 0.8 / len(sizes)
        for place, size in enumerate(sizes):
            mine = {
                arm["name"]: arm["median_ms"] for arm in arms if arm["chunks"] == size and arm["median_ms"]
            }
            at = [names.index(name) + (place - (len(sizes) - 1) / 2) * height for name in mine]
            axis.barh(at, list(mine.values()), height=height, label=f"{size:,} chunks")
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.set(xscale="log", xlabel="median milliseconds")
        axis.grid(axis="x", alpha=0.3)
        axis.legend(fontsize=7)

    return text, draw


def rerank(run: Run) -> tuple[str, Draw]:
    found: dict[str, dict[str, float]] = {}
    for key, value in run.items():
        if match := _NDCG.fullmatch(key):
            found.setdefault(match["set"], {})[match["arm"]] = value
    arms = [arm for arm in SCORERS if any(arm in scores for scores in found.values())]
    body = [[name, *(f"{s[arm]:.3f}" if arm in s else "" for arm in arms)] for name, s in found.items()]

    def draw(plt: Any) -> None:
        _, axis = plt.subplots(figsize=(max(6.0, 0.55 * len(found)), 4.2))
        width = 0.8 / len(arms)
        for place, arm in enumerate(arms):
            mine = {i: s[arm] for i, s in enumerate(found.values()) if arm in s}
            axis.bar(
                [i + (place - (len(arms) - 1) / 2) * width for i in mine],
                list(mine.values()),
                width,
                label=arm,
            )
        labels = [name.replace("xquad_multilingual_", "xquad ") for name in found]
        axis.set_xticks(range(len(found)), labels, rotation=45, ha="right", fontsize=8)
        axis.set(ylabel="nDCG@10", ylim=(0, 1))
        axis.legend(fontsize=7, ncols=len(arms), loc="upper center")

    return table(["set", *arms], body), draw


# ---- the matcher -----------------------------------------------------------------------------------


def matcher(run: Run) -> tuple[str, Draw]:
    lines = [line for line in run["lines"] if ":" not in line["set"]]

    def share(hits: int, of: int) -> str:
        return f"{hits / of:.3f} ({hits}/{of})" if of else ""

    body = [
        [
            line["set"],
            line["verifier"],
            share(line["hits"], line["same"]),
            f"{line['false']}/{line['other']}" if line["other"] else "",
            f"{line['hits'] / max(line['hits'] + line['false'], 1):.3f}" if line["other"] else "",
        ]
        for line in lines
    ]
    text = table(["set", "verifier", "rewordings found", "false hits", "precision"], body)

    def draw(plt: Any) -> None:
        curves = run["curves"]
        names = list(next(iter(curves.values())))
        _, axes = plt.subplots(1, len(names), figsize=(3.6 * len(names), 3.6), squeeze=False)
        for axis, name in zip(axes[0], names, strict=True):
            for verifier, found in curves.items():
                points = found[name]
                axis.plot([p["recall"] for p in points], [p["precision"] for p in points], label=verifier)
            if name == "all 285":
                for row in run["reference"]:
                    axis.plot(row["recall"], row["precision"], "x", color="0.4", label=row["gate"])
            axis.set(title=name, xlabel="rewordings found", ylabel="precision", xlim=(0, 1), ylim=(0.5, 1.01))
            axis.grid(alpha=0.3)
            axis.legend(fontsize=7, loc="lower left")

    return text, draw


# ---- the report ----------------------------------------------------------------------------------


@frozen
class Part:
    """One section of the report.

    Attributes:
        name: of the eval, as its runs have it.
        heading: of the section.
        plot: name of its file.
        holds: whether a run has what is drawn.
        make: the section's table, and what draws its plot.
        command: what makes such a run.
    """

    name: str
    heading: str
    plot: str
    holds: Callable[[Run], bool]
    make: Callable[[Run], tuple[str, Draw]]
    command: str


PARTS = (
    Part(
        "compression",
        "Compression: answers kept",
        "compression_frontier",
        lambda run: _listed(run, "frontier"),
        compression,
        "python evals/compression.py",
    ),
    Part(
        "lists",
        "Compression: lists",
        "lists",
        lambda run: _listed(run, "lists"),
        lists,
        "python evals/lists.py",
    ),
    Part(
        "rank_speed",
        "Ranking: speed",
        "rank_speed",
        lambda run: _listed(run, "arms") and not run.get("without_amx"),
        rank_speed,
        "python evals/rank_speed.py",
    ),
    Part(
        "rank_speed",
        "Ranking: speed with AMX switched off",
        "rank_speed_without_amx",
        lambda run: _listed(run, "arms") and bool(run.get("without_amx")),
        rank_speed,
        "python evals/rank_speed.py --without-amx",
    ),
    Part(
        "matcher",
        "Reworded queries",
        "matcher",
        lambda run: _listed(run, "lines") and bool(run.get("curves")),
        matcher,
        "python evals/matcher.py",
    ),
    Part(
        "rerank",
        "Ranking: quality",
        "rerank",
        lambda run: any(map(_NDCG.fullmatch, run)),
        rerank,
        "python evals/rerank.py",
    ),
)


def _listed(run: Run, key: str) -> bool:
    return isinstance(run.get(key), list) and bool(run[key])


def matplotlib() -> Any:
    """``pyplot`` that writes the same file for the same figures, or None with the fix printed."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("no plots: matplotlib is not installed (pip install -r evals/requirements.txt)")
        return None
    mpl.use("svg")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "webfetch", "font.size": 9})
    from matplotlib import pyplot

    return pyplot


def main() -> None:
    parser = argparse.ArgumentParser(description="a report of the newest runs, with plots")
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    plt = matplotlib()
    args.out.mkdir(parents=True, exist_ok=True)
    parts = ["# Report", "", "Written by `evals/report.py` from the newest run of each eval."]
    for part in PARTS:
        run = newest(args.runs, part.name, part.holds)
        parts += ["", f"## {part.heading}", ""]
        if run is None:
            parts.append(f"Not run here: `{part.command}`.")
            continue
        text, draw = part.make(run)
        parts += [source(run), ""]
        if plt is not None:
            draw(plt)
            plt.tight_layout()
            plt.savefig(args.out / f"{part.plot}.svg", metadata={"Date": None})
            plt.close("all")
            parts += [f"![{part.heading}]({part.plot}.svg)", ""]
        parts.append(text)
    target = args.out / "report.md"
    target.write_text("\n".join(parts) + "\n", encoding="utf-8")
    print(f"written: {target}")


if __name__ == "__main__":
    main()
