"""From the JSON of ``/web/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from webfetch_core.api import BadResponse, SearchHit, plain_text, rows, text_at

BETWEEN = " … "
"""What stands between the excerpts of one snippet."""

_PARTS = frozenset({"type", "query", "mixed", "web"})


def parse(data: Any, *, extra_snippets: bool = False) -> list[SearchHit]:
    """Return the web results in Brave's order; results without a web address are left out.

    Nothing found is a reply without ``web``. With ``extra_snippets`` the further excerpts follow
    the description.

    Raises:
        BadResponse: it is no search reply, or none of its results has an address.
    """
    if not isinstance(data, Mapping) or not _PARTS & data.keys():
        raise BadResponse("Brave's answer is no search reply: it has none of type, query and web")
    web = data.get("web")
    found = web.get("results") if isinstance(web, Mapping) else None
    if web is None or (isinstance(web, Mapping) and found is None):
        return []
    if not isinstance(found, list):
        raise BadResponse("Brave's answer has another layout: web.results is no list")
    hits = [hit for row in rows(found) if (hit := _hit(row, extra_snippets))]
    if found and not hits:
        raise BadResponse(f"Brave's answer has another layout: none of its {len(found)} results has a URL")
    return hits


def _hit(row: Mapping[str, Any], extra_snippets: bool) -> SearchHit | None:
    url = row.get("url")
    if not isinstance(url, str) or not url.strip().lower().startswith(("http://", "https://")):
        return None
    excerpts = [text_at(row, "description")]
    more = row.get("extra_snippets")
    if extra_snippets and isinstance(more, list):
        excerpts += map(plain_text, more)
    published = iso_date(row.get("page_age"))
    about = {
        "site_name": text_at(row, "profile", "name"),
        "language": text_at(row, "language"),
        "age": "" if published else text_at(row, "age"),
    }
    return SearchHit(
        url=url.strip(),
        title=text_at(row, "title"),
        snippet=BETWEEN.join(dict.fromkeys(filter(None, excerpts))),
        published=published,
        extra={name: value for name, value in about.items() if value},
    )


def iso_date(value: Any) -> str | None:
    """``value`` if it is an ISO 8601 date or date-time, else None."""
    if not isinstance(value, str):
        return None
    try:
        datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return value.strip()
