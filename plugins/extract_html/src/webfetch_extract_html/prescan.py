"""The encoding that a page's own ``meta`` declares: the prescan of the HTML standard, over bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = re.compile(rb"</?[a-zA-Z][^\s/>]*+")
_BLANK = re.compile(rb"[\s/]*+")
_ATTRIBUTE = re.compile(
    rb"([^\s/>][^\s/>=]*+)(?:\s*+=\s*+(?:\"([^\"]*+)(\"?)|'([^']*+)('?)|([^\s>\"'][^\s>]*+))?+)?+"
)
_CONTENT = re.compile(rb"charset\s*+=\s*+(?:\"([^\"]+)\"|'([^']+)'|([^\s;\"']+))", re.I)


def meta_charset(head: bytes) -> str:
    """Return the label of the first ``meta`` that declares one, as it stands there; empty for none.

    ``charset=`` counts, and ``content=`` of a meta whose ``http-equiv`` is Content-Type; comments, other
    tags and the values of their attributes do not.
    """
    for name, attributes in _tags(head):
        if name != b"meta":
            continue
        label = attributes.get(b"charset", b"")
        if not label and attributes.get(b"http-equiv", b"").lower() == b"content-type":
            found = _CONTENT.search(attributes.get(b"content", b""))
            label = next((group for group in found.groups() if group), b"") if found else b""
        if label.strip():
            return label.strip().decode("ascii", "replace")
    return ""


def _tags(head: bytes) -> Iterator[tuple[bytes, dict[bytes, bytes]]]:
    """The complete tags of ``head``: the name in small letters, its attributes, the first of each name."""
    at = 0
    while (start := head.find(b"<", at)) >= 0:
        if head.startswith(b"<!--", start):
            end = head.find(b"-->", start + 2)
            at = end + 3 if end >= 0 else len(head)
            continue
        match = _NAME.match(head, start)
        if match is None:
            end = head.find(b">", start) if head[start + 1 : start + 2] in (b"!", b"/", b"?") else start
            at = end + 1 if end >= 0 else len(head)
            continue
        attributes: dict[bytes, bytes] = {}
        at = _BLANK.match(head, match.end()).end()  # type: ignore[union-attr]
        while at < len(head) and head[at] != 0x3E:
            given = _ATTRIBUTE.match(head, at)
            if (
                given is None
                or (given[2] is not None and not given[3])
                or (given[4] is not None and not given[5])
            ):
                return  # a value that does not end: what follows is part of it
            value = next((group for group in (given[2], given[4], given[6]) if group is not None), b"")
            attributes.setdefault(given[1].lower(), value)
            at = _BLANK.match(head, given.end()).end()  # type: ignore[union-attr]
        if at >= len(head):
            return  # the tag does not end
        yield match[0][1:].lower(), attributes
        at += 1
