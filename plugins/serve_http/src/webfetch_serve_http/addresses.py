"""Which page a client means, however it writes the address. Pure; the guard judges it besides."""

from __future__ import annotations

import re
from urllib.parse import unquote

from .faults import Fault
from .given import mended

MAX_ADDRESS_CHARS = 8_192
LOCAL = "local"
"""webfetch's own scheme, of the files in its local index: ``local:INDEX/PATH``."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ENCODED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:%3A|:/?%2F)", re.IGNORECASE)
# "localhost" is the one name without a dot that is a host beyond doubt: "tel:911" is none.
_HOST = re.compile(
    r"(?:\[[0-9A-Fa-f:.]+\]|localhost|[\w-]+(?:\.[\w-]+)+)\.?(?::\d{1,5})?(?=[/?#]|\Z)", re.IGNORECASE
)

_BEHIND_HOST = re.compile("[/?#]")
_LETTERS = re.compile(r"[\w.-]+(?::\d{1,5})?")


def address_of(text: str) -> str:
    """The address that ``text`` stands for, its scheme in lower case.

    ========================================= ===========================================================
    ``https://a.example/b``, ``HTTPS:/a.ex``  that, with two slashes
    ``a.example:8443/b``, ``//a.example/b``   the same with ``https:``
    ``https%3A%2F%2Fa.example%2Fb``           decoded, once; what stands behind a bare ``?`` is not
    ``local:docs/a.md``                       that
    ``ftp://a.example/``                      that: whether any fetcher takes it, the library says
    ``mailto:``, ``data:``, ``javascript:``   refused, as is every other scheme without ``//``
    ``/docs/a``, ``warp``, ``user@a.example`` refused: nobody knows of which page
    ========================================= ===========================================================

    Raises:
        Fault: 400, ``bad_query``; it repeats nothing of the text but its scheme.
    """
    address = mended(text).strip()
    if _ENCODED.match(address):
        path, mark, query = address.partition("?")
        address = mended(unquote(path)).strip() + mark + query
    if len(address) > MAX_ADDRESS_CHARS:
        raise _refused(f"an address has {MAX_ADDRESS_CHARS} characters at most", fix="")
    bare = _with_host_decoded(address.removeprefix("//"))
    if _HOST.match(bare):
        return f"https://{bare}"
    found = _SCHEME.match(address)
    if found is None:
        raise _refused("this is not the address of a page")
    scheme, rest = found[1].lower(), address[found.end() :]
    if scheme in ("http", "https", LOCAL):
        rest = rest.lstrip("/")
        if not rest:
            raise _refused("this is not the address of a page")
        return f"{scheme}:{rest}" if scheme == LOCAL else f"{scheme}://{_with_host_decoded(rest)}"
    if not rest.startswith("//"):
        raise _refused(f"{scheme[:20]}: is nothing that can be read here", "an address begins with https://")
    return f"{scheme}:{rest}"


def _with_host_decoded(text: str) -> str:
    """``b%C3%BCcher.example/...`` with its host in letters: a client that writes an address into a path
    encodes all of it. Whatever else was encoded in a host is left for the guard to refuse."""
    host = _BEHIND_HOST.split(text, maxsplit=1)[0]
    decoded = unquote(host)
    if decoded == host or not _LETTERS.fullmatch(decoded):
        return text
    return decoded + text[len(host) :]


def _refused(message: str, fix: str = "give it with its scheme, as in https://example.org/page") -> Fault:
    return Fault(400, "bad_query", message, fix=fix)
