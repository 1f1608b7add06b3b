"""Characters as readers search for them: ligatures taken apart, symbols of old fonts named, controls gone."""

from __future__ import annotations

import re
import unicodedata

_FORMS = re.compile("[\ufb00-\ufb4f\ufb50-\ufdff\ufe70-\ufefc]")
"""Ligatures and positional forms that Unicode has for round trips only."""
_DROPPED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\ufffe\uffff\U000e0000-\U000e007f]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010fffd]")
_SYMBOLS = {
    0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▫", 0xF0D8: "➢", 0xF0FC: "✓", 0xF0FB: "✗", 0xF06F: "□", 0xF071: "❑",
    0xF076: "❖", 0xF0E0: "→", 0xF0AE: "→", 0xF0B0: "°", 0xF0B1: "±", 0xF0B3: "≥", 0xF0A3: "≤", 0xF0B4: "×",
    0xF06D: "μ", 0xF061: "α", 0xF062: "β", 0xF067: "γ", 0xF064: "δ", 0xF065: "ε", 0xF06C: "λ", 0xF070: "π",
    0xF073: "σ", 0xF044: "Δ", 0xF0D7: "·", 0xF02D: "−", 0xF020: " ", 0xF03D: "=", 0xF02B: "+", 0xF028: "(",
    0xF029: ")", 0xF0BA: "≡", 0xF0BB: "≈", 0xF0B9: "≠", 0xF0A5: "∞", 0xF0C5: "⊕", 0xF053: "Σ", 0xF057: "Ω",
}  # fmt: skip
"""What the private codes stand for that Symbol and Wingdings come out with."""


def clean(text: str) -> str:
    """Return ``text`` in NFC, without controls, private characters and compatibility forms."""
    if text.isascii():
        return _DROPPED.sub("", text) if not text.isprintable() else text
    text = text.translate(_SYMBOLS)
    text = _FORMS.sub(lambda found: unicodedata.normalize("NFKC", found.group()), text)
    text = _DROPPED.sub("", text)
    text = _PRIVATE.sub("", text).replace("\ufffd", "")
    return unicodedata.normalize("NFC", text.replace("\u00a0", " "))
