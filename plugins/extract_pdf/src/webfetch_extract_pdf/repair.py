"""A file whose end is lost: its pages are found by what they call themselves, and get a new root."""

from __future__ import annotations

import re

MAX_PAGES = 5_000
_CATALOG = re.compile(rb"(\d{1,9})\s+(\d{1,5})\s+obj\s*<<(?:(?!endobj)[\s\S]){0,2000}?/Type\s*/Catalog\b")
_PAGE = re.compile(rb"(\d{1,9})\s+(\d{1,5})\s+obj\s*<<(?:(?!endobj)[\s\S]){0,2000}?/Type\s*/Page\b")
_NUMBER = re.compile(rb"(\d{1,9})\s+\d{1,5}\s+obj\b")


def repaired(body: bytes) -> bytes | None:
    """Return the file with a trailer that names its catalogue, or one made of the pages that are left;
    None when there is neither. The library finds the objects themselves again."""
    if catalogs := _CATALOG.findall(body):
        number, generation = catalogs[-1]
        return body + b"\nendobj\ntrailer\n<< /Root %s %s R >>\n%%%%EOF\n" % (number, generation)
    pages = list(dict.fromkeys(_PAGE.findall(body)))[:MAX_PAGES]
    if not pages:
        return None
    free = max(int(number) for number in _NUMBER.findall(body)) + 1
    kids = b" ".join(b"%s %s R" % page for page in pages)
    return body + (
        b"\nendobj\n%d 0 obj\n<< /Type /Pages /Count %d /Kids [%s] >>\nendobj\n"
        b"%d 0 obj\n<< /Type /Catalog /Pages %d 0 R >>\nendobj\ntrailer\n<< /Root %d 0 R >>\n%%%%EOF\n"
        % (free, len(pages), kids, free + 1, free, free + 1)
    )
