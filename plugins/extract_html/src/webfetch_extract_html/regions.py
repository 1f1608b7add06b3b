"""Which elements are trimmings of a page: navigation, footers, advertising and the like."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_REGIONS = frozenset({"nav", "footer", "aside", "header", "form", "menu", "button", "fieldset", "search"})
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary"})
_BOILERPLATE = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|sidebar|footer|breadcrumbs?|cookies?|consent|share|sharing|social|related|"
    r"recommend(?:ed|ations)?|promo|newsletter|subscribe|advert(?:s|isement)?|ads?|pagination|pager|toc|skip|masthead|"
    r"comments?|commentbox|comment-?list|respond|disqus(?:_thread)?)(?:$|[\s_-])",
    re.I,
)
_KEPT = 500
"""Characters of names up to which the answer is kept: pages repeat them."""

_NEVER = frozenset({"body", "html", "main", "article", "h1"})


def is_region(element: Any) -> bool:
    """Whether an element's tag, role, class or id says that it is no content."""
    tag = element.tag
    if tag == "header":  # an article's own header is content
        return not any(ancestor.tag in ("article", "main") for ancestor in element.iterancestors())
    if tag in _REGIONS or element.get("role") in _ROLES:
        return True
    if tag in _NEVER:
        return False
    label, name = element.get("class"), element.get("id")
    if not label and not name:
        return False
    names = f"{label or ''} {name or ''}"
    return _is_boilerplate(names) if len(names) <= _KEPT else bool(_BOILERPLATE.search(names))


@lru_cache(maxsize=10_000)
def _is_boilerplate(names: str) -> bool:
    return bool(_BOILERPLATE.search(names))
