"""The fetcher of ``local:`` URLs: indexed documents and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

from webfetch_core.api import (
    CacheError,
    ConfigError,
    FetchRequest,
    NotConfigured,
    Page,
    PageError,
    PluginContext,
    Refused,
)

from .files import admit, is_binary, media_type, read
from .here import name_folders
from .library import Library
from .manifest import key_of
from .settings import LocalSettings
from .store import StoreDamaged
from .urls import parse_local_url

_NOTHING_INDEXED = "no folder is indexed, so there is no local: document; run `webfetch index add PATH`"


def make_fetcher(settings: LocalSettings, context: PluginContext) -> LocalFetcher:
    """Return the fetcher. Raises NotConfigured when there is nothing to serve."""
    library = Library(lambda: context.data_dir)
    here = name_folders(settings.here)
    if not here:
        try:
            names = library.names()
        except CacheError as exc:
            raise NotConfigured(f"{_NOTHING_INDEXED}; {exc.message}", fix=exc.fix) from exc
        if not names:
            raise NotConfigured(_NOTHING_INDEXED)
    return LocalFetcher(here, library, settings)


class LocalFetcher:
    """Serves a file as it is now if that is what was indexed, else the text that was indexed.

    Paths are looked up, never joined from a URL unchecked: a file is served only if indexing would
    take it (folders of this run) or did take it (indexes that are kept).
    """

    def __init__(self, here: dict[str, Path], library: Library, settings: LocalSettings) -> None:
        self._here = here
        self._library = library
        self._settings = settings

    def fetch(self, request: FetchRequest) -> Page:
        """Return the document of a ``local:<index>/<path>`` URL.

        Raises:
            Refused: a URL of any other scheme.
            PageError: ``not_found``: no such index, or nothing indexed under that path.
            CacheError: the index cannot be read.
        """
        place = parse_local_url(request.url)
        if place is None:
            raise Refused(
                f"{request.url.partition(':')[0]}: is not served here", fix="only local:<index>/<path> is"
            )
        index, path = place
        body, content_type = (
            self._from_here(index, path) if index in self._here else self._from_kept(index, path)
        )
        return Page(
            url=request.url,
            final_url=request.url,
            body=body,
            content_type=content_type,
            headers={"content-type": content_type},
            fetched_by="local",
        )

    def _from_here(self, index: str, path: str) -> tuple[bytes, str]:
        folder = self._here[index]
        if not admit(folder, path, self._settings):
            raise _not_found(index, path)
        try:
            body = read(folder, path, self._settings.max_file_bytes)
        except (OSError, ValueError) as exc:
            raise _not_found(index, path) from exc
        content_type = media_type(path)
        if content_type.startswith("text/") and is_binary(body):
            raise _not_found(index, path)
        return body, content_type

    def _from_kept(self, index: str, path: str) -> tuple[bytes, str]:
        try:
            manifest = self._library.manifest(index)
        except ConfigError as exc:
            raise PageError(exc.message, kind="not_found", fix=exc.fix) from exc
        record = manifest.files.get(path)
        if record is None:
            raise _not_found(index, path)
        try:
            body = read(Path(manifest.folder), path, record.size)
            if hashlib.sha256(body).hexdigest() == record.sha256:
                return body, media_type(path)
        except (OSError, ValueError):
            pass  # gone or changed since: the text that was indexed still answers
        opened = self._library.open(index)
        try:
            reading = opened.store.view().reading(key_of(path))
        except StoreDamaged as exc:
            raise self._library.damaged(manifest, exc) from exc
        if reading is None:
            raise _not_found(index, path)
        return reading.text.encode(), "text/markdown; charset=utf-8"


def _not_found(index: str, path: str) -> PageError:
    shown = "".join(c if c.isprintable() else "?" for c in path)[:120]
    return PageError(f"nothing is indexed as {shown!r} in {index!r}", kind="not_found")
