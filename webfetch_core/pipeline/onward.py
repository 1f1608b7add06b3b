"""Files that a page links to and that a search should read, too: a report behind its landing page."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from ..models import Document, FileLink, SearchHit

FILE_TYPES = ("application/pdf",)
"""Types that pages link to as documents of their own."""
FILES_PER_SEARCH = 3
"""Files that are read for one search, whatever the pages link to."""
FILES_PER_PAGE = 2
THIN = 600
"""Characters up to which a page is taken for the door to what it links to."""
DOORS = 2
"""Files that such a page may link to for the file's name not to matter."""
LEAST_SHARE = 0.34
"""Share of the query's words that the link and the file's name must have between them."""

_WORD = re.compile(r"[^\W_]+")
_STOP = frozenset(
    {"a", "an", "and", "are", "as", "at", "by", "can", "do", "does", "for", "from", "how", "in", "is", "it"}
    | {"many", "much", "of", "on", "or", "pdf", "that", "the", "to", "was", "were", "what", "when", "where"}
    | {"which", "who", "why", "with", "der", "die", "das", "und", "de", "la", "le", "les", "et", "en", "el"}
)


def files_to_read(query: str, document: Document, media_types: Sequence[str]) -> list[tuple[float, FileLink]]:
    """Return the files of a page that have to do with the query, best first, each with its score.

    A file counts by the words of the query that its link's text and its own name have, or, on a page
    that says next to nothing itself, by being one of the few it links to.
    """
    wanted = words_of(query)
    files = [link for link in document.files if link.media_type in media_types]
    found: list[tuple[float, FileLink]] = []
    for link in files:
        path = unquote(urlsplit(link.url).path)
        share = len(wanted & words_of(f"{link.text} {path.rpartition('/')[2]}")) / max(len(wanted), 1)
        if share >= LEAST_SHARE:
            found.append((share, link))
        elif len(document.text) <= THIN and len(files) <= DOORS:
            found.append((0.0, link))
    found.sort(key=lambda pair: -pair[0])
    return found[:FILES_PER_PAGE]


def words_of(text: str) -> set[str]:
    """The words of a text that say something, without their endings' last letter: plurals are alike."""
    return {word.removesuffix("s") for word in _WORD.findall(text.lower()) if word not in _STOP}


def hit_of(link: FileLink, page: str, rank: int) -> SearchHit:
    """The hit that stands for a file, which says where it was found."""
    return SearchHit(url=link.url, title=link.text, rank=rank, engine="link", extra={"found_on": page})
