"""``local:<index>/<path>`` URLs, the public URLs that stand for them, and domain filters."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote_from_bytes, unquote_to_bytes, urlsplit

from webfetch_core.api import ConfigError

SCHEME = "local"


def quote_path(path: str) -> str:
    """Return ``path`` percent-encoded; works for names that are no valid Unicode."""
    return quote_from_bytes(os.fsencode(path), safe="/")


def local_url(index: str, path: str) -> str:
    """Return the URL of the file ``path`` of ``index``."""
    return f"{SCHEME}:{quote_from_bytes(index.encode(), safe='')}/{quote_path(path)}"


def parse_local_url(url: str) -> tuple[str, str] | None:
    """Return (index, path) of a ``local:`` URL without its fragment; None for any other."""
    scheme, colon, rest = url.partition(":")
    if not colon or scheme.lower() != SCHEME:
        return None
    index, _, path = rest.partition("#")[0].lstrip("/").partition("/")
    return unquote_to_bytes(index).decode("utf-8", "replace"), os.fsdecode(unquote_to_bytes(path))


def public_url(path: str, base_url: str, urls: dict[str, str]) -> str:
    """Return the public URL of ``path``, or "": a mapped one, else one under ``base_url``."""
    if path in urls:
        return urls[path]
    return base_url.rstrip("/") + "/" + quote_path(path) if base_url else ""


def check_web_url(url: object, where: str) -> str:
    """Return ``url`` if it is an absolute http(s) URL.

    Raises:
        ConfigError: it is something else; ``where`` says where it was given.
    """
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        good = parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good = False
    if not good:
        raise ConfigError(
            f"{where}: {url!r} is not a web address", fix="give one like https://example.org/docs/"
        )
    return str(url)


def read_url_map(file: Path, folder: Path) -> dict[str, str]:
    """Return ``{path: url}`` of a file of JSON lines ``{"path": ..., "url": ...}``.

    A path is relative to ``folder`` or absolute. Blank lines are passed over.

    Raises:
        ConfigError: with the number of the line that is wrong.
    """
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError(
            f"URL map {file} cannot be read: {exc}", fix="give a file of JSON lines in UTF-8"
        ) from exc
    urls: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"URL map {file}, line {number}"
        try:
            row = json.loads(line)
            path, url = row["path"], row["url"]
        except (ValueError, KeyError, TypeError):
            path, url = None, None
        if not isinstance(path, str):
            raise ConfigError(
                f'{where}: expected {{"path": ..., "url": ...}}, got {line.strip()[:80]!r}',
                fix="write one JSON object a line",
            )
        urls[_inside_path(path, folder, where)] = check_web_url(url, where)
    return urls


def _inside_path(path: str, folder: Path, where: str) -> str:
    """Return ``path`` relative to the folder, with forward slashes and no dots."""
    root = os.path.normpath(folder)
    relative = os.path.relpath(os.path.normpath(Path(root, path)), root).replace(os.sep, "/")
    if relative == ".." or relative.startswith("../"):
        raise ConfigError(
            f"{where}: {path!r} is not inside {folder}", fix="give paths relative to the folder"
        )
    return relative


def passes_domains(url: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a hit passes the domain filters; ``url`` is "" for one without a public URL.

    A domain stands for itself and its subdomains. A hit without a public URL has no domain: it
    passes unless domains were asked for.
    """
    if not url:
        return not include
    try:
        host = (urlsplit(url).hostname or "").lower().rstrip(".")
    except ValueError:
        return False
    if any(_within(host, domain) for domain in exclude):
        return False
    return not include or any(_within(host, domain) for domain in include)


def _within(host: str, domain: str) -> bool:
    wanted = domain.lower().strip().strip(".").removeprefix("www.")
    return bool(wanted) and (host == wanted or host.endswith("." + wanted))
