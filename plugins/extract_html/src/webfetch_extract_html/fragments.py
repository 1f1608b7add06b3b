"""Strings of data as text: HTML in them rendered, escaped HTML decoded, program text and ids left out."""

from __future__ import annotations

import html
import re

from .blocks import segment
from .dom import parse
from .hidden import remove_hidden
from .instructions import reads_like_instruction
from .markdown import render

_TAG = re.compile(r"<\s*/?\s*[a-z][\w-]*(?:\s[^<>]*)?/?>", re.I)
_ESCAPED_TAG = re.compile(r"&(?:amp;)?lt;\s*/?\s*[a-z][\w-]*", re.I)
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,20});", re.I)
_SENTENCE = re.compile(r"\w+(?:[^\w<>{}\[\]=]+\w+){6,}")
_SENTENCE_END = re.compile(r"(\n\n+|(?<=[.!?…。！？])\s+)")
_PROGRAM = re.compile(
    r"function\s*\(|=>|\bvar \w+\s*=|\bconst \w+\s*=|\breturn\b.*;|\{\{|\}\}|/\*|@media|[.#][\w-]+\s*\{|"
    r"\bimport\b.*\bfrom\b|<svg|\bquery \w+\s*[({]|\bfragment \w+ on\b|!important|\bwindow\.|\bdocument\."
)
_MAX_CHARS = 400_000


def as_text(value: str) -> str:
    """A string of a page's data as Markdown, without orders to a language model: no reader sees it."""
    value = value.strip()[:_MAX_CHARS]
    if _ESCAPED_TAG.search(value):
        value = html.unescape(value)
    if _TAG.search(value):
        tree = parse(f"<div>{value}</div>")
        if tree is None:
            return ""
        remove_hidden(tree)
        value = render(segment(tree))
    elif _ENTITY.search(value):
        value = html.unescape(value)
    if reads_like_instruction(value):
        pieces = _SENTENCE_END.split(value)
        value = "".join(piece for piece in pieces if not piece.strip() or not reads_like_instruction(piece))
    return re.sub(r"[ \t\xa0]+", " ", value).strip() if "```" not in value else value.strip()


def one_line(value: object) -> str:
    """A string, number or truth value of data on one line; empty for anything else."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return str(value)
    return " ".join(as_text(value).split()) if isinstance(value, str) else ""


def is_prose(value: str) -> bool:
    """Whether a string reads like sentences and not like a program, a query, an address or an id."""
    if len(value) <= 30 or value.startswith(("http", "{", "[", "data:", "/", "#")):
        return False
    head = value[:3_000]
    if _PROGRAM.search(head):
        return False
    bare = _TAG.sub(" ", html.unescape(head))
    if not _SENTENCE.search(bare) and not _has_sentence_of_unspaced(bare):
        return False
    return sum(bare.count(sign) for sign in "{}[]=;\\|_") <= 0.03 * len(bare)


def _has_sentence_of_unspaced(text: str) -> bool:
    return len(re.findall("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", text)) >= 15
