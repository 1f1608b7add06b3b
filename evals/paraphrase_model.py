"""The paraphrase model in torch: all-MiniLM-L6-v2 with low-rank adapters, reading two queries at once.

The base is the pinned file's tensors, multiplied out, as the runtime makes them; they are not trained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from webfetch_rank_onnx import weights

WIDTH, HEADS, LAYERS = 384, 12, weights.LAYERS
EPSILON = 1e-12
PARTS = ("query", "key", "value", "out", "up", "down")


class Adapted(nn.Module):
    """One projection, frozen, with its adapter: ``x W + b + x A B``."""

    def __init__(self, matrix: np.ndarray, bias: np.ndarray, rank: int) -> None:
        super().__init__()
        inside, outside = matrix.shape
        self.register_buffer("weight", torch.from_numpy(np.ascontiguousarray(matrix.T)), persistent=False)
        self.bias = nn.Parameter(torch.from_numpy(bias.astype(np.float32).copy()))
        self.a = nn.Parameter(torch.randn(inside, rank) / math.sqrt(inside))
        self.b = nn.Parameter(torch.zeros(rank, outside))

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight, self.bias) + (x @ self.a) @ self.b


class Norm(nn.Module):
    def __init__(self, weight: np.ndarray, bias: np.ndarray) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.from_numpy(weight.astype(np.float32).copy()))
        self.bias = nn.Parameter(torch.from_numpy(bias.astype(np.float32).copy()))

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, (WIDTH,), self.weight, self.bias, EPSILON)


class Layer(nn.Module):
    def __init__(self, source: weights.Pinned, number: int, rank: int) -> None:
        super().__init__()
        name = f"layer{number}"
        for part in PARTS:
            matrix = source[f"{name}.{part}.q"] * source[f"{name}.{part}.scale"].reshape(1, -1)
            setattr(self, part, Adapted(matrix.astype(np.float32), source[f"{name}.{part}.bias"], rank))
        self.norm1, self.norm2 = (
            Norm(source[f"{name}.norm{k}.weight"], source[f"{name}.norm{k}.bias"]) for k in (1, 2)
        )

    def forward(self, x: Tensor, off: Tensor) -> Tensor:
        texts, tokens, _ = x.shape
        q, k, v = (
            getattr(self, part)(x).view(texts, tokens, HEADS, WIDTH // HEADS).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        shares = torch.softmax(q @ k.transpose(2, 3) / math.sqrt(WIDTH // HEADS) + off, dim=-1)
        mixed = (shares @ v).transpose(1, 2).reshape(texts, tokens, WIDTH)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(functional.gelu(self.up(x))))


class Paraphrase(nn.Module):
    """Gives one logit for each pair. The head reads the first token, the mean of either query, their
    difference and product."""

    def __init__(self, pinned: Path, rank: int, hidden: int) -> None:
        super().__init__()
        source = weights.pinned(pinned)
        table = source["words.q"] * source["words.scale"].reshape(-1, 1)
        self.register_buffer("words", torch.from_numpy(table.astype(np.float32)), persistent=False)
        places = (source["positions.q"] * source["positions.scale"].reshape(-1, 1))[:64]
        self.register_buffer("positions", torch.from_numpy(places.astype(np.float32)), persistent=False)
        self.segments = nn.Parameter(torch.from_numpy(source["segment"].astype(np.float32).copy()))
        self.first = Norm(source["first.weight"], source["first.bias"])
        self.layers = nn.ModuleList(Layer(source, number, rank) for number in range(LAYERS))
        self.inner = nn.Linear(3 * WIDTH, hidden)
        self.outer = nn.Linear(hidden, 1)

    def forward(self, ids: Tensor, segments: Tensor, mask: Tensor) -> Tensor:
        x = functional.embedding(ids, self.words) + self.positions[: ids.shape[1]] + self.segments[segments]
        x = self.first(x)
        off = (1 - mask.float())[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, off)
        one, other = (_mean(x, (mask * (segments == n)).float()) for n in (0, 1))
        seen = torch.cat([x[:, 0], (one - other).abs(), one * other], dim=-1)
        return self.outer(functional.gelu(self.inner(seen))).squeeze(-1)

    def trained(self) -> Iterator[tuple[str, nn.Parameter]]:
        return self.named_parameters()


def _mean(x: Tensor, kept: Tensor) -> Tensor:
    return (x * kept[:, :, None]).sum(1) / kept.sum(1, keepdim=True).clamp(min=1)
