"""What the head of a page says about it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

from attrs import frozen

from .dates import iso_date

__all__ = ["Head", "iso_date", "nodes_of", "read_head"]

_SPACE = re.compile(r"\s+")
_TITLES = (
    "og:title", "twitter:title", "dc.title", "dcterms.title", "citation_title", "parsely-title",
    "title",
)  # fmt: skip
_DESCRIPTIONS = (
    "description", "og:description", "twitter:description", "dc.description", "dcterms.description",
    "citation_abstract",
)  # fmt: skip
_DATES = (
    "article:published_time", "datepublished", "og:published_time", "og:article:published_time",
    "pubdate", "publishdate", "publish-date", "publish_date", "publication_date", "published",
    "published_time", "date", "dc.date", "dc.date.issued", "dc.date.created", "dcterms.created",
    "dcterms.issued", "dcterms.date", "citation_publication_date", "citation_date",
    "citation_online_date", "parsely-pub-date", "sailthru.date", "article.published",
    "article:published", "date.published", "datecreated", "bt:pubdate", "rnews:datepublished",
    "cxenseparse:recs:publishtime", "originalpublicationdate", "created", "release_date",
    "video:release_date",
)  # fmt: skip
_MODIFIED = (
    "article:modified_time", "og:updated_time", "datemodified", "last-modified", "dcterms.modified",
    "revised",
)  # fmt: skip
_AUTHORS = (
    "author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author",
    "byl", "sailthru.author", "twitter:creator",
)  # fmt: skip
_MAX_JSON_NODES = 5_000
_LONGEST_NAME = 100
_LONGEST_TITLE, _LONGEST_DESCRIPTION = 1_000, 5_000
"""They stand before the text, and more of them would leave it no room: the longest that are meant so,
abstracts of papers, have some 3,000 characters."""
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$", re.I)
_PUSHED = re.compile(r"""["']@context["']\s*:\s*["']https?://schema\.org""")
_UNREAL_TITLES = frozenset(
    {"untitled", "untitled document", "document", "null", "undefined", "loading...", "loading…"}
)


@frozen(kw_only=True)
class Head:
    """Every field is empty or None where the page does not say."""

    title: str = ""
    description: str = ""
    site_name: str = ""
    language: str = ""
    published: str | None = None
    """ISO 8601, as precise as the page is."""
    modified: str | None = None
    author: str = ""
    canonical: str = ""
    """The page's own address for itself, as written; may be relative."""
    kinds: frozenset[str] = frozenset()
    """Types named by JSON-LD, lower case (``article``, ``qapage``, ...)."""
    base: str = ""
    data: tuple[Any, ...] = ()
    """The JSON-LD objects."""

    def canonical_url(self, base: str) -> str:
        """The absolute canonical address; empty where there is none or it is no web address."""
        try:
            url = urljoin(base, self.canonical) if self.canonical else ""
        except ValueError:
            return ""
        return url if url.startswith(("http://", "https://")) else ""


def read_head(root: Any) -> Head:
    """Read what the page says about itself; never raises on odd values."""
    meta: dict[str, str] = {}
    authors: dict[str, None] = {}
    for element in root.iter("meta"):
        name = element.get("property") or element.get("name") or element.get("itemprop") or ""
        name = name.strip().lower() or (element.get("http-equiv") or "").strip().lower()
        content = _SPACE.sub(" ", element.get("content") or "").strip()
        if name and content:
            meta.setdefault(name, content)
            if name in ("citation_author", "author") and _is_name(content):
                authors.setdefault(content)
    data = tuple(_json_ld(root))
    nodes = [node for item in data for node in nodes_of(item)]
    base = next((each.get("href", "") for each in root.iter("base") if each.get("href")), "")
    return Head(
        title=_cut(_title(root, meta), _LONGEST_TITLE),
        description=_cut(_first(meta, _DESCRIPTIONS), _LONGEST_DESCRIPTION),
        site_name=_site_name(meta, nodes),
        language=_language(root, meta),
        published=_published(root, meta, nodes),
        modified=_date_of([meta[n] for n in _MODIFIED if n in meta] + _values(nodes, "dateModified")),
        author=_author(root, meta, nodes, authors),
        canonical=_canonical(root, meta),
        kinds=frozenset(kind.lower() for node in nodes for kind in _types(node)),
        base=base.strip(),
        data=data,
    )


def _cut(text: str, longest: int) -> str:
    """At most so many characters, whole words."""
    if len(text) <= longest:
        return text
    whole, blank, _ = text[: longest + 1].rpartition(" ")
    return whole if blank else text[:longest]


def nodes_of(data: Any) -> Iterator[dict[str, Any]]:
    """Every object in JSON data. Iterative and bounded."""
    stack, seen = [data], 0
    while stack and seen < _MAX_JSON_NODES:
        node = stack.pop()
        seen += 1
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _text(element: Any) -> str:
    return _SPACE.sub(" ", " ".join(element.itertext())).strip()


def _title(root: Any, meta: dict[str, str]) -> str:
    title = next((_text(each) for each in root.iter("title") if not _in_svg(each) and _text(each)), "")
    if title and title.lower() not in _UNREAL_TITLES:
        return title
    heading = next((_text(each) for each in root.iter("h1") if _text(each)), "")
    return _first(meta, _TITLES) or heading or title


def _in_svg(element: Any) -> bool:
    return any(ancestor.tag == "svg" for ancestor in element.iterancestors())


def _first(meta: dict[str, str], names: tuple[str, ...]) -> str:
    return next((meta[name] for name in names if name in meta), "")


def _language(root: Any, meta: dict[str, str]) -> str:
    for value in (root.get("lang"), root.get("xml:lang"), meta.get("content-language"), meta.get("og:locale"),
                  meta.get("language"), meta.get("dc.language")):  # fmt: skip
        tag = (value or "").split(",")[0].replace("_", "-").strip()
        if _LANGUAGE.match(tag):
            return tag
    return ""


def _site_name(meta: dict[str, str], nodes: list[dict[str, Any]]) -> str:
    if found := _first(meta, ("og:site_name", "application-name", "apple-mobile-web-app-title")):
        return found
    for node in nodes:
        if "WebSite" in _types(node) and isinstance(node.get("name"), str):
            return _SPACE.sub(" ", node["name"]).strip()
    return ""


def _canonical(root: Any, meta: dict[str, str]) -> str:
    for element in root.iter("link"):
        if "canonical" in (element.get("rel") or "").lower().split() and element.get("href"):
            return str(element.get("href")).strip()
    return meta.get("og:url", "")


def _author(root: Any, meta: dict[str, str], nodes: list[dict[str, Any]], authors: dict[str, None]) -> str:
    """Names, not addresses: what the head says, then JSON-LD, then a byline that is marked as one."""
    if authors:
        return ", ".join(list(authors)[:10])
    for name in _AUTHORS:
        if name in meta and _is_name(meta[name]):
            return meta[name].removeprefix("By ").removeprefix("by ")
    for node in nodes:
        found = [_name_of(each) for each in _list(node.get("author"))]
        if names := [each for each in found if _is_name(each)]:
            return ", ".join(dict.fromkeys(names[:10]))
    for element in root.iter("a", "span", "address", "p", "div"):
        marked = "author" in (element.get("rel") or "").split() or element.get("itemprop") == "author"
        if marked and _is_name(name := _text(element)):
            return re.sub(r"^(?:written )?by:?\s+", "", name, flags=re.I)
    return ""


def _is_name(value: str) -> bool:
    return 1 < len(value) <= _LONGEST_NAME and not value.startswith(("http", "@", "/")) and "{" not in value


def _name_of(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("name")
    return _SPACE.sub(" ", value).strip() if isinstance(value, str) else ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _json_ld(root: Any) -> Iterator[Any]:
    for script in root.iter("script"):
        text = script.text or ""
        kind = (script.get("type") or "").partition(";")[0].strip().lower()
        if not text.strip():
            continue
        if kind == "application/ld+json":
            yield from _loaded(text)
        elif kind in ("", "text/javascript", "module") and (match := _PUSHED.search(text)):
            yield from _pushed(text, match.start())


def _loaded(text: str) -> Iterator[Any]:
    """The values of a script; also where comments, a closing semicolon or a trailing comma are about."""
    text = text.strip().removeprefix("<!--").removesuffix("-->").strip()
    text = (
        text.removeprefix("//<![CDATA[").removeprefix("<![CDATA[").removesuffix("//]]>").removesuffix("]]>")
    )
    for attempt in (text, re.sub(r",(\s*[}\]])", r"\1", text.strip().rstrip(";"))):
        try:
            yield json.loads(attempt, strict=False)
            return
        except (ValueError, RecursionError):
            continue
    decoder = json.JSONDecoder(strict=False)
    try:
        yield decoder.raw_decode(text.lstrip())[0]  # several values, or rubbish behind the first
    except (ValueError, RecursionError):
        return


def _pushed(text: str, position: int) -> Iterator[Any]:
    """The JSON-LD object that a script hands over, if it is written as JSON."""
    decoder = json.JSONDecoder(strict=False)
    for start in (text.rfind("{", 0, position), text.find("{")):
        if start >= 0:
            try:
                yield decoder.raw_decode(text, start)[0]
                return
            except (ValueError, RecursionError):
                continue


def _types(node: dict[str, Any]) -> list[str]:
    kinds = node.get("@type")
    return [kind for kind in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(kind, str)]


def _values(nodes: list[dict[str, Any]], name: str) -> list[str]:
    return [node[name] for node in nodes if isinstance(node.get(name), str)]


def _published(root: Any, meta: dict[str, str], nodes: list[dict[str, Any]]) -> str | None:
    values = [meta[name] for name in _DATES if name in meta]
    values += _values(nodes, "datePublished")
    for element in root.iter("time", "span", "abbr", "p"):
        if element.get("itemprop") == "datePublished" or "pubdate" in element.attrib:
            values.append(
                element.get("datetime") or element.get("content") or element.get("title") or _text(element)
            )
    article = next(root.iter("article", "main"), None)
    if article is not None:
        values += [element.get("datetime") or _text(element) for element in list(article.iter("time"))[:1]]
    return _date_of([*values, *_values(nodes, "dateCreated"), *_values(nodes, "uploadDate")])


def _date_of(values: list[str]) -> str | None:
    return next((date for value in values if (date := iso_date(value))), None)
