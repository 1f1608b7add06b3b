"""The learned parts of the classifier, and the file they are kept in.

The file: the 8 bytes ``WFCLF01\\n``, the SHA-256 (32 bytes) of all that follows, and a zlib stream of

- the length of the header as 4 bytes, little-endian;
- the header, JSON: ``columns``, ``page_columns``, ``context`` (names of the inputs, in order), ``types``
  (of pages), ``terms`` (words of the linear model), ``trees`` (depth and array lengths of each
  ensemble) and ``about`` (what it was trained with);
- the arrays one after another, little-endian, in the order of ``_LINEAR`` and then, for each of the
  ensembles ``page``, ``first`` and ``second``, of ``_ENSEMBLE``.

Nothing in it is executed.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .trees import Trees

MAGIC = b"WFCLF01\n"
_MOST_BYTES = 16_000_000
_LINEAR = (("term_weights", "<f4"), ("page_mean", "<f4"), ("page_scale", "<f4"), ("page_weights", "<f4"))
_ENSEMBLE = (
    ("edges", "<f4"),
    ("edge_start", "<i4"),
    ("column", "<u2"),
    ("cut", "<u1"),
    ("child", "<i4"),
    ("value", "<f4"),
    ("roots", "<i4"),
    ("output", "<u1"),
)
_ENSEMBLES = ("page", "first", "second")


class ModelError(Exception):
    """The model file cannot be used; the message says why."""


@frozen(kw_only=True, eq=False)
class Model:
    """``columns`` are the block features, ``context`` those of the second stage, ``page_columns`` the page
    features and ``types`` the page types, all by name in order.

    ``terms`` maps words to their weights. ``page_weights`` is ``[types, page_columns + 1]`` over
    standardised page features, the intercept last. ``page`` (one output per type), ``first`` and ``second``
    (one output) are the ensembles; their sums are log-odds.
    """

    columns: tuple[str, ...]
    page_columns: tuple[str, ...]
    context: tuple[str, ...]
    types: tuple[str, ...]
    terms: Mapping[str, float]
    page_mean: NDArray[np.float32]
    page_scale: NDArray[np.float32]
    page_weights: NDArray[np.float32]
    page: Trees
    first: Trees
    second: Trees
    about: Mapping[str, Any]


def pack(model: Model) -> bytes:
    """The bytes of the file; the same model gives the same bytes."""
    ensembles = {name: getattr(model, name) for name in _ENSEMBLES}
    linear = {
        "term_weights": np.array(list(model.terms.values())),
        "page_mean": model.page_mean,
        "page_scale": model.page_scale,
        "page_weights": model.page_weights,
    }
    header = {
        "columns": model.columns,
        "page_columns": model.page_columns,
        "context": model.context,
        "types": model.types,
        "terms": list(model.terms),
        "trees": {
            name: {
                "depth": trees.depth,
                "lengths": [len(getattr(trees, field)) for field, _ in _ENSEMBLE],
            }
            for name, trees in ensembles.items()
        },
        "about": dict(model.about),
    }
    head = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    parts = [len(head).to_bytes(4, "little"), head]
    parts += [np.ascontiguousarray(linear[field], dtype=kind).tobytes() for field, kind in _LINEAR]
    for trees in ensembles.values():
        parts += [np.ascontiguousarray(getattr(trees, f), dtype=kind).tobytes() for f, kind in _ENSEMBLE]
    stream = zlib.compress(b"".join(parts), 9)
    return MAGIC + hashlib.sha256(stream).digest() + stream


def unpack(data: bytes) -> Model:
    """Read the bytes of the file.

    Raises:
        ModelError: another format, damaged, or parts that do not fit each other.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise ModelError("not a classifier of this version")
    digest, stream = data[len(MAGIC) : len(MAGIC) + 32], data[len(MAGIC) + 32 :]
    if hashlib.sha256(stream).digest() != digest:
        raise ModelError("checksum does not match: the file is damaged")
    try:
        unzip = zlib.decompressobj()
        content = unzip.decompress(stream, _MOST_BYTES)
        if unzip.unconsumed_tail:
            raise ModelError("larger than any classifier")
        size = int.from_bytes(content[:4], "little")
        header = json.loads(content[4 : 4 + size])
        return _checked(_read(header, memoryview(content)[4 + size :]))
    except (KeyError, TypeError, ValueError, zlib.error) as error:
        raise ModelError(f"unreadable: {type(error).__name__}: {error}") from error


def _read(header: dict[str, Any], content: memoryview) -> Model:
    position = 0

    def take(kind: str, length: int) -> NDArray[Any]:
        nonlocal position
        item = np.dtype(kind)
        found = np.frombuffer(content, dtype=item, count=length, offset=position)
        position += length * item.itemsize
        return found

    terms, types, page = header["terms"], header["types"], len(header["page_columns"])
    lengths = (len(terms), page, page, len(types) * (page + 1))
    linear = {field: take(kind, length) for (field, kind), length in zip(_LINEAR, lengths, strict=True)}
    ensembles = {}
    for name in _ENSEMBLES:
        shape = header["trees"][name]
        arrays = {f: take(kind, n) for (f, kind), n in zip(_ENSEMBLE, shape["lengths"], strict=True)}
        ensembles[name] = Trees(depth=int(shape["depth"]), **arrays)
    if position != len(content):
        raise ModelError("bytes left over")
    return Model(
        columns=tuple(header["columns"]),
        page_columns=tuple(header["page_columns"]),
        context=tuple(header["context"]),
        types=tuple(types),
        terms=dict(zip(terms, linear["term_weights"].tolist(), strict=True)),
        page_mean=linear["page_mean"],
        page_scale=linear["page_scale"],
        page_weights=linear["page_weights"].reshape(len(types), page + 1),
        about=header["about"],
        **ensembles,
    )


def _checked(model: Model) -> Model:
    first = len(model.columns) + 3 + len(model.types)
    widths = {"page": len(model.page_columns), "first": first, "second": first + len(model.context)}
    for name, width in widths.items():
        trees: Trees = getattr(model, name)
        if fault := trees.fault():
            raise ModelError(f"trees {name}: {fault}")
        if trees.columns != width:
            raise ModelError(f"trees {name}: {trees.columns} columns instead of {width}")
        if int(trees.output.max()) >= (len(model.types) if name == "page" else 1):
            raise ModelError(f"trees {name}: an output that is not there")
    return model


def compare(names: Sequence[str], wanted: Sequence[str], what: str) -> None:
    """Compare the inputs of a page with those the model was trained on.

    Raises:
        ModelError: they differ.
    """
    if tuple(names) != tuple(wanted):
        differing = sorted(set(names) ^ set(wanted))[:3]
        raise ModelError(f"trained on other {what}: {', '.join(differing) or 'another order'}")
