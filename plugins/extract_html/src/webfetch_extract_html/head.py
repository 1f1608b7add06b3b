"""What the head of a page says about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from attrs import frozen

_DATE = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?\s?(?:Z|[+-]\d\d:?\d\d)?)?"
)
_COMPACT_DATE = re.compile(r"(\d{4})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)")
_SPACE = re.compile(r"\s+")
_TITLES = ("og:title", "twitter:title", "dc.title", "citation_title")
_DESCRIPTIONS = ("description", "og:description", "twitter:description", "dc.description")
_DATES = (
    "article:published_time",
    "datepublished",
    "og:published_time",
    "pubdate",
    "publishdate",
    "publish-date",
    "date",
    "dc.date",
    "dc.date.issued",
    "dcterms.created",
    "citation_publication_date",
    "parsely-pub-date",
    "sailthru.date",
)
_MAX_JSON_NODES = 5_000


@frozen(kw_only=True)
class Head:
    """Every field is empty or None where the page does not say."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    language: str = ""
    published: str | None = None
    kinds: frozenset[str] = frozenset()
    """Types named by JSON-LD, lower case (``article``, ``qapage``, ...)."""
    base: str = ""
    data: tuple[Any, ...] = ()
    """The JSON-LD objects."""


def read_head(root: Any) -> Head:
    """Read title, description, date, language and site name; never raises on odd values."""
    meta: dict[str, str] = {}
    for element in root.iter("meta"):
        name = (
            (element.get("property") or element.get("name") or element.get("itemprop") or "").strip().lower()
        )
        content = _SPACE.sub(" ", element.get("content") or "").strip()
        if name and content:
            meta.setdefault(name, content)
    data = tuple(_json_ld(root))
    nodes = [node for item in data for node in nodes_of(item)]
    title = next((_text(each) for each in root.iter("title") if not _in_svg(each) and _text(each)), "")
    base = next((each.get("href", "") for each in root.iter("base") if each.get("href")), "")
    language = root.get("lang") or root.get("xml:lang") or meta.get("og:locale") or ""
    first_heading = next((_text(each) for each in root.iter("h1") if _text(each)), "")
    return Head(
        title=title or _first(meta, _TITLES) or first_heading,
        description=_first(meta, _DESCRIPTIONS),
        site_name=_first(meta, ("og:site_name", "application-name")),
        language=language.replace("_", "-").strip(),
        published=_published(root, meta, nodes),
        kinds=frozenset(kind.lower() for node in nodes for kind in _types(node)),
        base=base.strip(),
        data=data,
    )


def _text(element: Any) -> str:
    return _SPACE.sub(" ", " ".join(element.itertext())).strip()


def _in_svg(element: Any) -> bool:
    return any(ancestor.tag == "svg" for ancestor in element.iterancestors())


def _first(meta: dict[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if name in meta), "")


def _json_ld(root: Any) -> Iterator[Any]:
    for script in root.iter("script"):
        if (script.get("type") or "").strip().lower() == "application/ld+json" and script.text:
            try:
                yield json.loads(script.text, strict=False)
            except (ValueError, RecursionError):
                continue


def nodes_of(data: Any) -> Iterator[dict[str, Any]]:
    stack, seen = [data], 0
    while stack and seen < _MAX_JSON_NODES:
        node = stack.pop()
        seen += 1
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _types(node: dict[str, Any]) -> list[str]:
    kinds = node.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _published(root: Any, meta: dict[str, str], nodes: list[dict[str, Any]]) -> str | None:
    values = [meta[name] for name in _DATES if name in meta]
    values += [node["datePublished"] for node in nodes if isinstance(node.get("datePublished"), str)]
    for element in root.iter("time"):
        if element.get("itemprop") == "datePublished" or "pubdate" in element.attrib:
            values.append(element.get("datetime") or "")
    article = next(root.iter("article"), None)
    if article is not None:
        values += [element.get("datetime") or "" for element in list(article.iter("time"))[:1]]
    return next((date for value in values if (date := iso_date(value))), None)


def iso_date(value: str) -> str | None:
    """The ISO 8601 date or date-time at the start of ``value``, or None."""
    value = value.strip().replace("/", "-")
    if match := _DATE.match(value):
        return match.group().replace(" ", "T", 1).replace(" ", "")
    if match := _COMPACT_DATE.match(value):
        return "-".join(match.groups())
    return None
