"""JSON laid out to be read: indented, escapes decoded, numbers as written, short lists on one line."""

from __future__ import annotations

import json
import re
from typing import Any

from .fragments import as_text

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_LINE = 100
"""Characters up to which a list or an object without others in it stays on one line."""

_MOST_ITEMS = 500
_INDENT = "  "


def read_json(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Return title, text and links. Only a JSON feed has a title and links; what is no JSON, or one value
    per line, stays as it is."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return "", text, ()
    if isinstance(data, dict) and "jsonfeed.org/version" in str(data.get("version")):
        return _feed(data)
    return "", _laid_out(text), ()


def _laid_out(text: str) -> str:
    """Valid JSON with line breaks. One pass over its tokens; no number is read, so none is changed."""
    lines: list[str] = []
    line = ""
    depth = 0
    tokens = [match.group() for match in _TOKEN.finditer(text)]
    position = 0
    while position < len(tokens):
        token = tokens[position]
        if token in "{[":
            flat, after = _flat(tokens, position, _LINE - len(line) - depth * len(_INDENT))
            if flat:
                line, position = line + flat, after
                continue
            lines.append(_INDENT * depth + line + token)
            line, depth = "", depth + 1
        elif token in "}]":
            if line:
                lines.append(_INDENT * depth + line)
            depth -= 1
            line = token
        elif token == ",":
            lines.append(_INDENT * depth + line + token)
            line = ""
        else:
            line += ": " if token == ":" else _decoded(token)
        position += 1
    return "\n".join([*lines, _INDENT * depth + line] if line else lines)


def _flat(tokens: list[str], start: int, room: int) -> tuple[str, int]:
    """An innermost list or object on one line and the place after it; empty where it does not fit."""
    text = tokens[start]
    for position in range(start + 1, len(tokens)):
        token = tokens[position]
        if token in "{[":
            return "", start
        text += {",": ", ", ":": ": "}.get(token) or _decoded(token)
        if len(text) > room:
            return "", start
        if token in "}]":
            return text, position + 1
    return "", start


def _decoded(token: str) -> str:
    if "\\u" not in token:
        return token
    written = json.dumps(json.loads(token), ensure_ascii=False)
    return token if any("\ud800" <= sign <= "\udfff" for sign in written) else written


def _feed(data: dict[str, Any]) -> tuple[str, str, tuple[str, ...]]:
    title = _string(data, "title")
    parts = [f"# {title}"] if title else []
    if about := _string(data, "description"):
        parts.append(f"> {about}")
    links: dict[str, None] = {}
    items = data.get("items")
    for item in items[:_MOST_ITEMS] if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        link = _string(item, "url") or _string(item, "external_url")
        if link.startswith(("http://", "https://")):
            links.setdefault(link)
        heading = _string(item, "title") or link
        facts = " · ".join(filter(None, (_string(item, "date_published"), link)))
        body = as_text(
            _string(item, "content_html") or _string(item, "content_text") or _string(item, "summary")
        )
        parts += filter(None, (f"## {heading}" if heading else "", facts, body))
    return title, "\n\n".join(parts), tuple(links)


def _string(data: dict[str, Any], name: str) -> str:
    value = data.get(name)
    return value.strip() if isinstance(value, str) else ""
