"""Documents that the browser shows in a page of its own, so that their reply gives that page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from webfetch_core.api import Unavailable

from .world import Elsewhere, World

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_VIEWED = frozenset({"application/pdf", "text/pdf"})

_LOAD_AGAIN = """(async () => {
  const most = %d;
  const reply = await fetch(location.href, {cache: 'force-cache', credentials: 'include'});
  if (!reply.ok) throw new Error(reply.status);
  const blob = await reply.blob();
  if (blob.size > most) return {size: blob.size, data: ''};
  const url = await new Promise((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.onerror = () => failed(reader.error);
    reader.readAsDataURL(blob);
  });
  return {size: blob.size, data: url.slice(url.indexOf(',') + 1)};
})()"""
"""The bytes of the document at this address, in base 64: nothing but the size where that is too much."""


def has_viewer(headers: Mapping[str, str]) -> bool:
    """Whether the browser shows such a reply (header names in lower case) instead of handing it over."""
    return headers.get("content-type", "").partition(";")[0].strip().lower() in _VIEWED


async def load_again(session: CDPSession, max_bytes: int) -> tuple[int, bytes]:
    """Return the size of the document at the page's address, and its bytes unless those are more than
    ``max_bytes``. It is asked for from the page, with its cookies, out of the cache where it is in it.

    Raises:
        Unavailable: it does not come a second time.
    """
    try:
        loaded = await World(session).read(_LOAD_AGAIN % max_bytes, waits=True)
    except Elsewhere:
        raise Unavailable("the browser could not hand the document over") from None
    return int(loaded["size"]), base64.b64decode(loaded["data"])
