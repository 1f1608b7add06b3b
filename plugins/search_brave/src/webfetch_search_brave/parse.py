"""From the JSON of ``/web/search`` to hits. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webfetch_core.api import BadResponse, SearchHit, iso_date, plain_text, result_rows, text_at, web_url

BETWEEN = " … "
"""What stands between the excerpts of one snippet."""

_PARTS = frozenset({"type", "query", "mixed", "web"})


def parse(data: Any, *, extra_snippets: bool = False) -> list[SearchHit]:
    """Return the web results in Brave's order; results without a web address are left out.

    Nothing found is a reply without ``web``. With ``extra_snippets`` the further excerpts follow
    the description.

    Raises:
        BadResponse: it is no search reply, or none of its results has a URL.
    """
    if not isinstance(data, Mapping) or not _PARTS & data.keys():
        raise BadResponse("Brave's answer is no search reply: it has none of type, query and web")
    web = data.get("web")
    if web is None or web == {}:
        return []
    results = result_rows(data, "web", "results", service="Brave")
    return [hit for row in results if (hit := _hit(row, extra_snippets))]


def _hit(row: Mapping[str, Any], extra_snippets: bool) -> SearchHit | None:
    url = web_url(row.get("url"))
    if not url:
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
        url=url,
        title=text_at(row, "title"),
        snippet=BETWEEN.join(dict.fromkeys(filter(None, excerpts))),
        published=published,
        extra={name: value for name, value in about.items() if value},
    )
