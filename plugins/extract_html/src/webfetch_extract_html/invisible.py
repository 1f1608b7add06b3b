"""Characters that nobody sees: tag characters, zero-width marks, bidirectional controls."""

from __future__ import annotations

import re
import unicodedata

_CANDIDATE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ufe00-\ufe0f\U000e0000-\U000e0fff]"
)
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{2,6}\U000e007f")
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
# Removing these is tidying up; only the others are worth a warning.
_HARMLESS = frozenset("\u00ad\u200b\ufeff\u200e\u200f\u2060\u061c")


def clean(text: str) -> tuple[str, bool]:
    """Return the text without invisible characters and whether any that could carry a message was among them.

    Joiners stay where a script or an emoji needs them; variation selectors stay after a symbol.
    """
    text = _CONTROL.sub("", text)
    if not _CANDIDATE.search(text):
        return text, False
    suspicious = False
    flags = {position for match in _FLAG.finditer(text) for position in range(*match.span())}

    def replace(match: re.Match[str]) -> str:
        nonlocal suspicious
        character, position = match.group(), match.start()
        if position in flags:
            return character
        before, after = text[position - 1 : position], text[position + 1 : position + 2]
        if character in "\u200c\u200d" and before and after and _joins(before) and _joins(after):
            return character
        if "\ufe00" <= character <= "\ufe0f" and before and not _CANDIDATE.match(before):
            return character
        if character not in _HARMLESS:
            suspicious = True
        return ""

    return _CANDIDATE.sub(replace, text), suspicious


def _joins(character: str) -> bool:
    """Whether a zero-width joiner next to ``character`` can change what is seen."""
    return character > "\u05ff" and unicodedata.category(character)[0] in "LMS"
