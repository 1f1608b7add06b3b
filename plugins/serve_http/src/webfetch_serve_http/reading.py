"""Reading the pages that a client names, for every endpoint that takes an address."""

from __future__ import annotations

from collections.abc import Sequence

from webfetch_core import Document

from .addresses import address_of
from .faults import Fault
from .serving import Serving


async def read_page(
    serving: Serving, text: str, seconds: float | None = None, *, force_fresh: bool = False
) -> Document:
    """Read the page at the address ``text``. Raises what ``Serving.fetch`` raises."""
    return await serving.fetch(address_of(text), seconds, force_fresh=force_fresh)


async def read_pages(
    serving: Serving, texts: Sequence[str], seconds: float | None = None
) -> list[Document | BaseException]:
    """Read pages side by side; each comes to a document or to what went wrong, in the order of ``texts``.
    For what is no address nothing is fetched."""
    places = [_place(text) for text in texts]
    wanted = [place for place in places if isinstance(place, str)]
    pages = iter(await serving.fetch_all(wanted, seconds) if wanted else ())
    return [next(pages) if isinstance(place, str) else place for place in places]


def _place(text: str) -> str | Fault:
    try:
        return address_of(text)
    except Fault as fault:
        return fault
