"""Documents of other types that a page links to: reports and papers behind their landing pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from webfetch_core.api import FileLink

from . import invisible
from .inline import link_of

MAX_FILES = 50
MAX_TEXT = 300
_ENDINGS = {".pdf": "application/pdf"}
_TYPES = frozenset(_ENDINGS.values())


def file_links(root: Any, base: str) -> tuple[FileLink, ...]:
    """Return the anchors of the whole page, navigation included, whose ``type`` or whose target's ending is
    that of such a file, each target once, with the text or title of its link."""
    found: dict[str, FileLink] = {}
    of_base = _may_end(base)
    for anchor in root.iter("a", "area"):
        if len(found) >= MAX_FILES:
            break
        if not of_base and anchor.get("type") is None and not _may_end(anchor.get("href") or ""):
            continue
        url = link_of(anchor, base)
        kind = _kind(anchor.get("type") or "", url or "")
        if not url or not kind:
            continue
        url = invisible.clean(url)[0]
        shown = " ".join("".join(anchor.itertext()).split())
        text = invisible.clean(shown or anchor.get("title") or anchor.get("aria-label") or "")[0][:MAX_TEXT]
        if url not in found or len(text) > len(found[url].text):
            found[url] = FileLink(url=url, text=text, media_type=kind)
    return tuple(found.values())


def _may_end(address: str) -> bool:
    """Whether a link may have one of the endings; asked first, as it costs less than to resolve the link."""
    if "\n" in address or "\t" in address or "\r" in address:
        return True  # these do not count in addresses
    address = address.lower()
    return any(ending in address for ending in _ENDINGS)


def _kind(declared: str, url: str) -> str:
    media = declared.partition(";")[0].strip().lower()
    if media in _TYPES:
        return media
    try:
        path = urlsplit(url).path.lower()
    except ValueError:
        return ""
    return next((kind for ending, kind in _ENDINGS.items() if path.endswith(ending)), "")
