"""Pages of which the site gives only a beginning for nothing."""

from __future__ import annotations

import re

from . import phrases
from .outline import ENOUGH_CHARS, Outline

_NOT_FREE = re.compile(r"\"isaccessibleforfree\"\s*:\s*\"?(?:https?://schema\.org/)?false", re.I)
_PARAGRAPH = re.compile(r"<p\b[^<>]*>(.*?)(?=</p\b|<p\b|<(?:div|section|article|footer)\b|\Z)", re.S)
_TAG = re.compile(r"<[^<>]*>")
_WHOLE_CHARS = 3_000
"""With this much in paragraphs the text is there, whatever the page says of its price."""


def is_paywalled(page: Outline) -> bool:
    """Whether the page is a beginning: it says in its data that it is not free and has little text, or it is
    small and asks for a subscription to read on."""
    if page.chars <= ENOUGH_CHARS and phrases.SUBSCRIBE.search(page.text.replace("\u2019", "'")):
        return True
    if not _NOT_FREE.search(page.markup):
        return False
    chars = 0
    for match in _PARAGRAPH.finditer(page.markup):
        chars += len(" ".join(_TAG.sub("", match[1]).split()))
        if chars >= _WHOLE_CHARS:
            return False
    return True
