"""What a body is, whatever its header says."""

from __future__ import annotations

import json
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
)
_UNKNOWN = frozenset(
    {"", "application/octet-stream", "binary/octet-stream", "application/x-download", "unknown/unknown"}
)
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_XML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>)?(?:\s|<!--[\s\S]{0,2000}?-->|<!DOCTYPE[^>]*>)*<([A-Za-z][\w:.-]*)", re.I
)
_HTML_START = re.compile(
    r"\s*(?:<!--[\s\S]{0,2000}?-->\s*)*"
    r"<(?:!doctype\s+html|html|head|body|title|meta|script|style|h1|div|p|a|table|main|article|br|iframe|font|b)\b",
    re.I,
)
_FEEDS = {"rss": "application/rss+xml", "rdf:rdf": "application/rss+xml", "feed": "application/atom+xml"}


def media_type(content_type: str) -> str:
    """Return the type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def sniff(body: bytes, declared: str) -> str:
    """Return the content type of ``body``: the declared one, corrected where the bytes contradict it.

    Bytes that name themselves (PDF, images, archives) win always. Text that was declared as plain
    stays plain: a server that shows source code means it.
    """
    kind = media_type(declared)
    if named := _by_magic(body):
        if named == "application/zip" and kind.startswith("application/vnd."):
            return declared
        return named
    if (
        kind
        and kind not in _UNKNOWN
        and not _is_markup(kind)
        and kind not in ("application/json", "text/json")
    ):
        return declared
    text = _head(body)
    found = _by_text(text, body)
    if not found:
        if kind in _UNKNOWN:
            return "text/plain" if _looks_like_text(text) else "application/octet-stream"
        return declared
    if found == kind or (found == "text/html" and kind in _HTML_TYPES):
        return declared
    if found == "application/xml" and kind != "text/html" and kind not in _UNKNOWN:
        return declared
    _, semicolon, parameters = declared.partition(";")
    return found + (semicolon + parameters if "charset" in parameters.lower() else "")


def _by_magic(body: bytes) -> str:
    head = body[:1024]
    if head.lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"%PDF-"):
        return "application/pdf"
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp":
        return "image/avif" if head[8:12] in (b"avif", b"avis") else "video/mp4"
    return next((name for magic, name in _MAGIC if head.startswith(magic)), "")


def _by_text(text: str, body: bytes) -> str:
    start = text.lstrip()
    if start[:1] in "{[" and start:
        return "application/json" if _is_json(body) else ""
    root = _XML_START.match(text)
    name = root[1].lower() if root else ""
    if name in _FEEDS:
        return _FEEDS[name]
    if start[:5].lower() == "<?xml":
        return "application/xhtml+xml" if name == "html" else "application/xml"
    return "text/html" if _HTML_START.match(text) else ""


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True


def _is_markup(kind: str) -> bool:
    return kind in _HTML_TYPES or kind.endswith(("/xml", "+xml"))


def _head(body: bytes) -> str:
    for bom, charset in _BOMS:
        if body.startswith(bom):
            return body[len(bom) : 4096].decode(charset, "replace")
    return body[:4096].decode("utf-8", "replace")


def _looks_like_text(text: str) -> bool:
    bad = sum(1 for c in text if c == "\ufffd" or (c < " " and c not in "\t\n\r\f\x1b"))
    return bad * 20 <= len(text)
