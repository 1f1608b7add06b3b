"""What adapters of search APIs would otherwise each write again. Pure; part of ``webfetch_core.api``."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .errors import ProviderError

# A tag begins with a letter or a slash: "5 < p < 9" is text.
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->", re.DOTALL)
_SPACE = re.compile(r"\s+")


def plain_text(value: Any) -> str:
    """Text of an API's string: tags out, entities decoded once, white space folded.

    Anything that is not text (None, a number where a title should be) gives an empty string.
    """
    if not isinstance(value, str):
        return ""
    return _SPACE.sub(" ", html.unescape(_TAG.sub("", value))).strip()


def rows(data: Any, *path: str) -> list[Mapping[str, Any]]:
    """The objects of the list at ``path`` in an API's JSON; missing or misshapen parts give none."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        return []
    return [row for row in data if isinstance(row, Mapping)]


def text_at(data: Any, *path: str) -> str:
    """The plain text at ``path`` in an API's JSON, or an empty string."""
    for key in path:
        data = data.get(key) if isinstance(data, Mapping) else None
    return plain_text(data)


def error_json(error: ProviderError) -> Mapping[str, Any]:
    """The JSON object in the body of an API's error, or an empty one."""
    try:
        data = json.loads(error.body)
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, Mapping) else {}


def with_sites(
    query: str, include: Iterable[str], exclude: Iterable[str], *, limit: int | None = None
) -> str:
    """``query`` with ``site:`` operators, for engines that have no domain parameters.

    ``(query) (site:a OR site:b) -site:c``. What does not fit into ``limit`` characters is left out,
    all of ``include`` or none of it: half of a list would be another question. The core filters the
    hits again, so an operator that is left out costs hits, never lets a wrong one in.
    """
    sites = " OR ".join(f"site:{d}" for d in include)
    narrowed = f"{query} ({sites})" if " OR " in sites else f"{query} {sites}".strip()
    if limit is not None and len(narrowed) > limit:
        narrowed = query
    for domain in exclude:
        longer = f"{narrowed} -site:{domain}"
        if limit is not None and len(longer) > limit:
            break
        narrowed = longer
    return narrowed
