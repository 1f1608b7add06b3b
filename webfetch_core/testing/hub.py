"""A model hub on the loopback address, and a store to pull into.

It answers what ``huggingface_hub`` asks for, ``/<repo>/resolve/<revision>/<file>`` with ETag, length and
ranges, and ``/api/models/<repo>/tree/<revision>``, and fails in the ways that hubs do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType

from ..runtime.models import ModelStore
from .site import LoopbackSite
from .site_server import Received, Reply


def model_store(home: Path, hub: LoopbackHub | None = None) -> ModelStore:
    """A model store below ``home`` that knows of no environment; it pulls from ``hub``, if from anywhere."""
    return ModelStore({"HF_ENDPOINT": hub.endpoint} if hub else {"HF_HUB_OFFLINE": "1"}, home)


class LoopbackHub:
    """A hub of files by (repo, revision, name); a context manager.

    Attributes:
        cut_after: a GET that starts at byte 0 breaks off after so many bytes; None serves files whole.
        status: the status of every answer; 200 serves.
    """

    def __init__(self) -> None:
        self.site = LoopbackSite()
        self.cut_after: int | None = None
        self.status = 200
        self._files: dict[str, bytes] = {}
        self._listings: dict[tuple[str, str], dict[str, bytes]] = {}

    def add(self, repo: str, revision: str, files: Mapping[str, bytes]) -> LoopbackHub:
        """Serve ``files`` of a repository at a commit. Returns itself."""
        for name, body in files.items():
            path = f"/{repo}/resolve/{revision}/{name}"
            self._files[path] = body
            self.site.add(path, partial(self._serve, path, revision))
        self._listings.setdefault((repo, revision), {}).update(files)
        self.site.add(f"/api/models/{repo}/tree/{revision}", partial(self._list, repo, revision))
        return self

    @property
    def endpoint(self) -> str:
        """What HF_ENDPOINT is set to."""
        return self.site.base_url

    @property
    def downloads(self) -> list[str]:
        """Method, path and range of every request so far."""
        return [f"{r.method} {r.path} {r.headers.get('range', '')}".rstrip() for r in self.site.requests]

    def _list(self, repo: str, revision: str, request: Received) -> Reply:
        """Large files are the ones that are kept elsewhere, whose SHA-256 the hub tells."""
        if self.status != 200:
            return Reply(status=self.status)
        rows = []
        for name, body in self._listings[repo, revision].items():
            row = {"type": "file", "path": name, "size": len(body), "oid": hashlib.sha1(body).hexdigest()}
            if name.endswith((".onnx", ".safetensors")):
                sha256 = hashlib.sha256(body).hexdigest()
                row["lfs"] = {"oid": sha256, "size": len(body), "pointerSize": 130}
            rows.append(row)
        return Reply(body=json.dumps(rows).encode(), headers={"Content-Type": "application/json"})

    def _serve(self, path: str, revision: str, request: Received) -> Reply:
        if self.status != 200:
            return Reply(status=self.status)
        body = self._files[path]
        headers = {
            "ETag": f'"{hashlib.sha256(body).hexdigest()}"',
            "X-Repo-Commit": revision,
            "Accept-Ranges": "bytes",
        }
        start, status = 0, 200
        wanted = request.headers.get("range", "")
        if wanted.startswith("bytes="):
            start, status = int(wanted[6:].split("-")[0] or 0), 206
            headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
        cut = self.cut_after if not start and request.method == "GET" else None
        return Reply(status=status, body=body[start:], headers=headers, truncate=cut)

    def __enter__(self) -> LoopbackHub:
        self.site.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.site.close()
