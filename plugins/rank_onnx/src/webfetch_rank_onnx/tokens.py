"""Texts to token ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .streams import Encoded

MAX_CHARS = 20_000
"""Longer texts are cut before they are tokenised: no model here reads so far."""


def wordpiece(vocabulary: Path, max_tokens: int) -> Any:
    """BERT's uncased WordPiece tokenizer over a vocabulary file, one token a line."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    words = models.WordPiece.from_file(str(vocabulary), unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer = Tokenizer(words)
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    end, start = tokenizer.token_to_id("[SEP]"), tokenizer.token_to_id("[CLS]")
    if start is None or end is None:
        raise ValueError(f"{vocabulary} has no [CLS] and [SEP]: it is not a vocabulary of BERT")
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", end), ("[CLS]", start))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def from_json(path: Path, max_tokens: int) -> Any:
    """The tokenizer that a model brings as ``tokenizer.json``; of a pair the longer text is cut.

    It is tried on a pair: some files are read without complaint, and fail at the first text.

    Raises:
        Exception: it cannot be used; says why.
    """
    from tokenizers import Tokenizer

    with _no_panic():
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens, strategy="longest_first")
        tokenizer.encode("how high", "41 metres")
    return tokenizer


@contextmanager
def _no_panic() -> Iterator[None]:
    """What panics in the library, which is Rust, is no ``Exception`` in Python; here it becomes one."""
    try:
        yield
    except BaseException as exc:
        if type(exc).__name__ != "PanicException":
            raise
        raise ValueError(f"the tokenizer broke down: {exc}") from exc


def encode(tokenizer: Any, texts: Sequence[str]) -> list[Encoded]:
    """Tokenise single texts.

    One by one: a batch would start a thread a core in the tokenizer, which outlive it, to save a hundredth
    of the time that the model takes.
    """
    with _no_panic():
        return [Encoded(ids=tokenizer.encode(clean(text)).ids) for text in texts]


def encode_pairs(tokenizer: Any, first: str, others: Sequence[str], most_first: int) -> list[Encoded]:
    """Tokenise ``first`` with each of ``others``; of ``first`` at most ``most_first`` characters."""
    head = clean(first)[:most_first]
    with _no_panic():
        pairs = [tokenizer.encode(head, clean(other)) for other in others]
    return [Encoded(ids=pair.ids, segments=pair.type_ids) for pair in pairs]


def clean(text: str) -> str:
    """What the tokenizer can take: no lone surrogates, and no more than a model could read."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")
