"""Numbers in digits, words and Roman letters, months and days."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from .tables import in_order, pairs
from .tokens import Token

_TEENS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {w: n for n, w in enumerate(_TEENS)} | {w: 10 * n for n, w in enumerate(_TENS, 2)}
_SCALE = {
    "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12, "lakh": 10**5,
    "crore": 10**7,
}  # fmt: skip
_OTHER = {
    "dozen": "12", "half": "0.5", "twice": "2 times", "double": "2 times", "triple": "3 times",
    "thrice": "3 times",     "quarter": "0.25", "couple": "2", "once": "1 times",
}  # fmt: skip
ORDINALS = {w: n for n, w in enumerate(in_order("ordinals"), 1)}
_ROMANS = (
    "ii",
    "iii",
    "iv",
    "",
    "vi",
    "vii",
    "viii",
    "ix",
    "",
    "xi",
    "xii",
    "xiii",
    "xiv",
    "xv",
    "xvi",
    "xvii",
)
ROMAN = {w: n for n, w in enumerate(_ROMANS, 2) if w} | {
    "xviii": 18,
    "xix": 19,
    "xx": 20,
    "xxi": 21,
    "xxx": 30,
}
"""Roman numerals of more than one letter: "v" and "x" are letters as well."""
MONTHS = {word: int(n) for word, n in pairs("months")}
DAYS = {
    d: d[:3] for d in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
}  # fmt: skip
_SCALED = re.compile(r"([\d.,:/]+)(k|bn|mn)")
_FACTORS = {"k": 1_000, "bn": 10**9, "mn": 10**6}
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_CENTURY_FROM = 50
"""'49 is 2049, '50 is 1950."""


def digits(token: Token) -> list[tuple[str, str]]:
    """The numbers, and month, of a token that starts with digits, each with its kind."""
    text, form = token.text, token.form
    if form == "iso":
        year, month, day = text.split("-")
        return [(year, "number"), (f"m:{int(month)}", "month"), (str(int(day)), "number")]
    if form == "span":
        return [(text[:4], "number"), (text[:2] + text[5:], "number")]
    if form == "short":
        short = int(text[1:])
        return [(str((2000 if short < _CENTURY_FROM else 1900) + short), "number")]
    if form == "ordinal":
        return [(f"o:{int(text[:-2])}", "ordinal")]
    if form == "decade":
        text = text.replace("'", "")
        return [(text, "number")]
    if form == "scaled" and (match := _SCALED.fullmatch(text)):
        value = _times(match[1].replace(",", ""), _FACTORS[match[2]])
        return [(value or text, "number")]
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    if text.isdecimal():
        text = text.lstrip("0") or "0"
    return [(text, "number")]


def spelled(found: Sequence[Token], at: int) -> tuple[str, int] | None:
    """A number in words that starts at ``at``, with how many tokens it takes."""
    word = found[at].text
    if word in _OTHER:
        return _OTHER[word], 1
    if word in _SCALE:
        return f"x{_SCALE[word]}", 1
    if word not in _SMALL:
        return None
    total, current, used = 0, 0, 0
    room = 1_000  # what may follow: "twenty" then "five", not "five" then "twenty"
    while at + used < len(found):
        word = found[at + used].text
        if word in _SMALL and _SMALL[word] < room and (current == 0 or room >= 20):
            current += _SMALL[word]
            room = _SMALL[word] if _SMALL[word] >= 20 else 1
        elif word in _SCALE and used:
            current = max(current, 1) * _SCALE[word]
            if _SCALE[word] > 100:
                total, current = total + current, 0
            room = 1_000
        else:
            break
        used += 1
    return str(total + current), used


def scaled(number: str, factor: str) -> str | None:
    """``number`` times a factor such as ``x1000000``; None where that is no factor, or the number none."""
    return _times(number, int(factor[1:])) if factor[:1] == "x" and factor[1:].isdecimal() else None


def _times(number: str, factor: int) -> str | None:
    try:
        value = Decimal(number) * factor
    except InvalidOperation:
        return None
    if not value.is_finite():
        return None
    return str(int(value)) if value == value.to_integral_value() else format(value.normalize(), "f")
