"""From a tool's outcome to what goes to a client: encodable, and within its limits. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

CLIENT_TOKENS = 25_000
"""What clients take as one result (Claude Code's default); how they count is not told, so we stay below."""
TEXT_TOKENS = 20_000
ALL_TOKENS = 9_500
"""Text and structured content together: from 10,000 on Claude Code warns, and there are clients that show
their model both. A text that was asked for and is longer is sent alone."""
_ASCII, _OTHER, _EAST = 0.25, 0.5, 1.0
_FIRST_EAST = "\u2e80"
CUT = "[truncated: the answer was longer than clients take; ask for less at a time, with max_tokens]"


def tokens(text: str) -> int:
    """About how many tokens ``text`` is: a quarter of a token for ASCII, half a one for other letters, a
    whole one from the scripts of East Asia on. Rather too many than too few."""
    ascii_count = len(text.encode("ascii", "ignore"))
    if ascii_count == len(text):
        return math.ceil(ascii_count * _ASCII)
    east = sum(1 for char in text if char >= _FIRST_EAST)
    return math.ceil(ascii_count * _ASCII + east * _EAST + (len(text) - ascii_count - east) * _OTHER)


def fitting(text: str, limit: int = TEXT_TOKENS) -> str:
    """``text``, cut at the end of a line where it is more than ``limit`` tokens."""
    count = tokens(text)
    if count <= limit:
        return text
    kept = text[: int(len(text) * limit / count)]
    while kept and tokens(kept) > limit - tokens(CUT):
        kept = kept[: int(len(kept) * 0.95)]
    return f"{kept[: kept.rfind(chr(10)) + 1] or kept}{CUT}"


def structured(data: Mapping[str, Any], text: str) -> dict[str, Any] | None:
    """The facts of a call for programs, with ``text`` among them.

    Claude Code and others give their model this in place of the text. So the text is in it to the letter:
    its frame, its notes, what it advises, and its length, which the caller has chosen. Titles and passages
    are strangers' words, and stand in the text alone. Where both do not fit, there is none.
    """
    if "error" in data:
        return dict(plain(data))
    made = {"text": encodable(text), **plain(_facts(data))}
    size = tokens(json.dumps(made, ensure_ascii=False))
    return made if tokens(text) + size <= ALL_TOKENS else None


_OF_A_SEARCH = ("schema_version", "query", "freshness", "partial")
_STRANGERS = frozenset({"text", "title"})
_MOST_FACT_CHARS = 400


def _facts(data: Mapping[str, Any]) -> dict[str, Any]:
    chunks = data.get("chunks")
    if not isinstance(chunks, list):
        return {name: value for name, value in data.items() if name not in _STRANGERS and _is_fact(value)}
    facts = {name: data[name] for name in _OF_A_SEARCH if name in data}
    if isinstance(source := data.get("provenance"), Mapping):
        facts["provenance"] = {name: source[name] for name in ("kind", "age_s") if name in source}
    urls = [chunk.get("url") for chunk in chunks if isinstance(chunk, Mapping)]
    return {**facts, "pages": list(dict.fromkeys(url for url in urls if isinstance(url, str)))}


def _is_fact(value: Any) -> bool:
    """Whether it is a number, a short text, or a list of these."""
    if isinstance(value, list):
        return len(value) <= 20 and all(not isinstance(one, list) and _is_fact(one) for one in value)
    if isinstance(value, str):
        return len(value) <= _MOST_FACT_CHARS
    return value is None or isinstance(value, (bool, int, float))


def plain(value: Any) -> Any:
    """``value`` as JSON data that every encoder takes: no lone surrogates, no NaN, text as keys."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, Mapping):
        return {encodable(str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int)) else encodable(str(value))


def encodable(text: str) -> str:
    """``text`` in which what UTF-8 cannot write (a lone surrogate) is a question mark."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def failed(tool: str, kind: str, message: str, advice: str, fix: str = "") -> tuple[str, dict[str, Any]]:
    """Text and data of a call that failed before webfetch had it; in the shape of webfetch's own failures."""
    lines = [f"[failed: {kind}] {tool}: {message}", f"What to do: {advice}"]
    if fix:
        lines.append(f"For the person who runs webfetch: {fix}")
    return "\n".join(lines), {"error": {"kind": kind, "message": message, "advice": advice, "fix": fix}}
