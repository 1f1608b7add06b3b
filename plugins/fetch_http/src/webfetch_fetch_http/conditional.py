"""Conditional requests (RFC 9110 section 13): asking for a page only if it has changed."""

from __future__ import annotations

from webfetch_core.api import FetchRequest, Page

_MAX_CHARS = 1_000


def conditions(request: FetchRequest) -> dict[str, str]:
    """Return the headers that ask whether the page has changed; none where the request has no validators.

    A validator that would not go over the wire as it came is left out. Entity tags are sent as they
    were given, weak ones too: their comparison is a weak one here.
    """
    found = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in found.items() if value.strip() and _sendable(value)}


def unchanged(page: Page, request: FetchRequest) -> bool:
    """Whether ``page`` is the 304 that was asked for, by the URL that the validators belong to."""
    return page.status == 304 and bool(conditions(request)) and page.final_url == request.validated_url


def _sendable(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) <= _MAX_CHARS
