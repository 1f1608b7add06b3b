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
# Removing these is tidying up, as in any text from right to left; only the others are worth a warning.
_HARMLESS = frozenset(
    "\u00ad\u180e\u200b\ufeff\u200e\u200f\u2060\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069\ufe0f\ufe0e"
)
_JOINERS = "\u200c\u200d"
_VIRAMA = 9
"""Combining class of the signs after which a joiner decides how a syllable is drawn (Indic scripts)."""

_KEYCAPS = frozenset("#*0123456789")


def clean(text: str) -> tuple[str, bool]:
    """Return the text without invisible characters and whether any that could carry a message was among them.

    Joiners stay where a script or an emoji needs them, variation selectors after what has variants: one after
    a symbol, a Chinese character or a letter of a script that uses them.
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
        if character in _JOINERS and before:
            if unicodedata.combining(before) == _VIRAMA or (after and _joins(before) and _joins(after)):
                return character
            if before > "\u05ff" and not _CANDIDATE.match(before):
                return ""  # at the end of a word of such a script it shows nothing and says nothing
        if before and _has_variant(before, character):
            return character
        if character not in _HARMLESS:
            suspicious = True
        return ""

    return _CANDIDATE.sub(replace, text), suspicious


def _joins(character: str) -> bool:
    """Whether a zero-width joiner next to ``character`` can change what is seen."""
    return character > "\u05ff" and unicodedata.category(character)[0] in "LMS"


def _has_variant(before: str, selector: str) -> bool:
    """Whether a variation selector can choose how ``before`` is drawn."""
    if "\ufe00" <= selector <= "\ufe0f":
        category = unicodedata.category(before)
        if selector in "\ufe0e\ufe0f":
            return category[0] == "S" or before in _KEYCAPS or category in ("Po", "Pd")
        return category[0] == "S" or (category == "Lo" and before > "\u0fff")
    if "\U000e0100" <= selector <= "\U000e01ef":
        return unicodedata.name(before, "").startswith("CJK")
    return selector == "\u180e" and "\u1820" <= before <= "\u18aa"
