"""Whose API a request speaks, and how that API tells an error. Pure.

========== ================================================== =========================================
dialect    requests                                           error
========== ================================================== =========================================
native     ``/api/v1/...``, ``/healthz``, ``/openapi.json``   ``{"error": {"kind", "message", ...}}``
tavily     ``POST /search`` (JSON), ``POST /extract``         ``{"detail": {"error": "..."}}``
mcp        ``/mcp``                                           a JSON-RPC error without an id
searxng    ``GET /`` and ``/search`` with ``format=json``,    ``{"error": "..."}``
           and both as a POST of a form, or of a query string
firecrawl  ``/v2/...``                                        ``{"success": false, "error": "...", ...}``
openwebui  ``/openwebui/...``                                 as native
jina       ``/v1/rerank``, ``/r/...``                         ``{"data": null, "code", "message", ...}``
page       ``GET /`` and ``/search`` otherwise                a page
========== ================================================== =========================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs
from uuid import uuid4

from starlette.responses import Response

from .faults import Fault, plain
from .given import MAX_ITEMS
from .replies import JsonReply

NATIVE, TAVILY, SEARXNG, FIRECRAWL = "native", "tavily", "searxng", "firecrawl"
OPENWEBUI, JINA, PAGE, MCP = "openwebui", "jina", "page", "mcp"


def dialect_of(method: str, path: str, query: str, content_type: str) -> str:
    """The dialect of a request."""
    if path.startswith("/v2/"):
        return FIRECRAWL
    if path == "/mcp" or path.startswith("/mcp/"):
        return MCP
    if path.startswith("/openwebui/"):
        return OPENWEBUI
    if path == "/v1/rerank" or path == "/r" or path.startswith("/r/"):
        return JINA
    if path == "/extract":
        return TAVILY
    if path not in ("/", "/search"):
        return NATIVE
    if method in ("GET", "HEAD"):
        try:
            wanted = parse_qs(query, max_num_fields=MAX_ITEMS).get("format", [""])[-1]
        except ValueError:  # more parameters than anybody needs
            return PAGE
        return SEARXNG if wanted not in ("", "html") else PAGE
    if _names(query) & {"q", "format"}:
        return SEARXNG  # which merges them with a form; Tavily's clients have no parameters
    form = content_type.partition(";")[0].strip().lower() in (
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    )
    return SEARXNG if form or path == "/" else TAVILY


def dialect_in(dialect: str, path: str, query: str, body: bytes) -> str:
    """The dialect of a request once its body is there: curl calls a form whatever it is not told of."""
    if dialect == SEARXNG and path == "/search" and not query and body.lstrip()[:1] == b"{":
        return TAVILY
    return dialect


def _names(query: str) -> set[str]:
    try:
        return set(parse_qs(query, max_num_fields=MAX_ITEMS, keep_blank_values=True))
    except ValueError:  # more parameters than anybody needs
        return set()


def reply_to(fault: Fault, dialect: str) -> Response:
    """``fault`` as the answer that clients of ``dialect`` understand."""
    status, body = _BODIES.get(dialect, _native)(fault)
    return JsonReply(body, status, headers=fault.headers)


def _native(fault: Fault) -> tuple[int, Any]:
    return fault.status, plain(fault)


def _tavily(fault: Fault) -> tuple[int, Any]:
    if fault.status == 401:
        return 401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}
    return fault.status, {"detail": {"error": fault.told}}


def _searxng(fault: Fault) -> tuple[int, Any]:
    return fault.status, {"error": fault.told}


_FIRECRAWL_STATUS = {
    504: 408,  # its word for a deadline that passed
    502: 500,  # its client asks again after 502, three times; asking again at once does not help here
}
_FIRECRAWL_CODES = {400: "BAD_REQUEST", 401: "UNAUTHORIZED", 408: "SCRAPE_TIMEOUT", 429: "RATE_LIMITED"}


def _firecrawl(fault: Fault) -> tuple[int, Any]:
    status = _FIRECRAWL_STATUS.get(fault.status, fault.status)
    code = _FIRECRAWL_CODES.get(status, fault.kind.upper())
    return status, {"success": False, "error": fault.told, "details": [], "code": code}


def _jina(fault: Fault) -> tuple[int, Any]:
    name = "".join(word.capitalize() for word in fault.kind.split("_")) + "Error"
    return fault.status, {
        "data": None,
        "code": fault.status,
        "name": name,
        "status": fault.status * 100,
        "message": fault.told,
        "readableMessage": f"{name}: {fault.told}",
    }


_JSONRPC_CODES = {400: -32600, 500: -32603}


def _mcp(fault: Fault) -> tuple[int, Any]:
    code = _JSONRPC_CODES.get(fault.status, -32000)
    return fault.status, {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": fault.told}}


_BODIES: Mapping[str, Callable[[Fault], tuple[int, Any]]] = {
    TAVILY: _tavily,
    SEARXNG: _searxng,
    MCP: _mcp,
    FIRECRAWL: _firecrawl,
    JINA: _jina,
}


def request_id() -> str:
    """A random name for an answer, where the imitated API gives one."""
    return str(uuid4())
