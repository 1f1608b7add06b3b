"""Prose in the state that a script framework leaves in a page (Next, Nuxt, Apollo, Redux, ...)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from .fragments import as_text, is_prose, one_line

_STATE_IDS = frozenset(
    [
        "__NEXT_DATA__",
        "__NUXT_DATA__",
        "__APOLLO_STATE__",
        "__UNIVERSAL_DATA_FOR_REHYDRATION__",
        "__remixContext",
        "ng-state",
        "serverApp-state",
        "__PRELOADED_STATE__",
    ]
)
_ASSIGNED = re.compile(
    r"(?:(?:window|self|globalThis)(?:\.|\[[\"']))"
    r"(__[A-Za-z_]+__|__[A-Za-z_]*(?:STATE|DATA|Context)[A-Za-z_]*|ytInitialData|"
    r"initial(?:State|Data|Props)|preloadedState|pageData)(?:[\"']\])?\s*=\s*"
)
_PUSHED = re.compile(r"self\.__next_f\.push\(\s*(?=\[)")
_PARSED = re.compile(r"JSON\.parse\(\s*(?=[\"'])")
_FLIGHT_STRING = re.compile(r'"((?:[^"\\]|\\.){30,}?)"')
_NO_CONTENT = frozenset(
    [
        "i18n",
        "translations",
        "messages",
        "locale",
        "locales",
        "dictionary",
        "labels",
        "navigation",
        "menu",
        "menus",
        "footer",
        "header",
        "config",
        "env",
        "runtimeconfig",
        "featureflags",
        "flags",
        "experiments",
        "analytics",
        "tracking",
        "cookie",
        "cookies",
        "consent",
        "ads",
        "scripts",
        "styles",
        "theme",
        "seo",
        "query",
        "buildid",
        "assets",
        "chunks",
        "errors",
        "metadata",
        "meta",
        "breadcrumbs",
        "social",
        "sharing",
        "user",
        "session",
        "permissions",
        "routes",
        "localization",
        "strings",
        "i18nstore",
        "_nexti18next",
        "globals",
        "settings",
    ]
)
_TITLES = ("title", "headline", "name", "question", "heading", "label")
_PRICES = (
    "price",
    "currency",
    "availability",
    "brand",
    "date",
    "publishedAt",
    "published_at",
    "publishDate",
    "author",
)
_MAX_CHARS = 200_000
_MAX_NODES = 200_000


def read_state(root: Any) -> str:
    """The prose of the fullest state, in order, each string once, under the titles it stands with; empty
    when there is none."""
    best = ""
    for state in _states(root):
        text = _prose(state)
        if len(text) > len(best):
            best = text
    return best


def _states(root: Any) -> Iterator[Any]:
    flight: list[str] = []
    for script in root.iter("script"):
        text, kind = script.text or "", (script.get("type") or "").lower()
        if not text.strip() or "ld+json" in kind:
            continue
        if script.get("id") in _STATE_IDS or kind in (
            "application/json",
            "text/json",
            "application/vnd.api+json",
        ):
            state = _loaded(text.strip().removeprefix("<!--").removesuffix("-->"))
            if state is not None:
                yield _unflattened(state) if script.get("id") == "__NUXT_DATA__" else state
            continue
        for match in _ASSIGNED.finditer(text):
            state = _value_at(text, match.end())
            if state is not None:
                yield state
        for match in _PUSHED.finditer(text):
            chunk = _value_at(text, match.end())
            if isinstance(chunk, list) and len(chunk) > 1 and isinstance(chunk[1], str):
                flight.append(chunk[1])
    if flight:
        yield list(_flight_strings("".join(flight)))


def _loaded(text: str) -> Any | None:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _value_at(text: str, position: int) -> Any | None:
    """The JSON value that begins at ``position`` of a script, also one in ``JSON.parse("...")``."""
    decoder = json.JSONDecoder(strict=False)
    try:
        if match := _PARSED.match(text, position):
            quoted = text[match.end() :]
            if quoted.startswith("'"):
                return None
            return json.loads(decoder.raw_decode(quoted)[0])
        return decoder.raw_decode(text, position)[0]
    except (ValueError, RecursionError, TypeError):
        return None


def _flight_strings(text: str) -> Iterator[str]:
    """The string values in the rows of a React server stream."""
    for match in _FLIGHT_STRING.finditer(text[: 5 * _MAX_CHARS]):
        value = _loaded(f'"{match[1]}"')
        if isinstance(value, str):
            yield value


def _unflattened(state: Any) -> Any:
    """Nuxt's flat list of values, in which numbers point to other places, as a list of its strings."""
    return [each for each in state if isinstance(each, str)] if isinstance(state, list) else state


def _prose(state: Any) -> str:
    found: dict[str, None] = {}
    stack: list[Any] = [state]
    size = nodes = 0
    while stack and size < _MAX_CHARS and nodes < _MAX_NODES:
        node = stack.pop()
        nodes += 1
        if isinstance(node, dict):
            for line in _labelled(node):
                found.setdefault(line)
            stack.extend(
                value
                for key, value in reversed(list(node.items()))
                if str(key).lower() not in _NO_CONTENT and isinstance(value, str | dict | list)
            )
        elif isinstance(node, list):
            stack.extend(reversed(node))
        elif isinstance(node, str) and is_prose(node) and (text := as_text(node)):
            size += len(text)
            found.setdefault(text)
    return _without_empty_titles(list(found))


def _labelled(node: dict[str, Any]) -> Iterator[str]:
    """The title, price and the like of an object that has prose or a price of its own."""
    texts = [value for value in node.values() if isinstance(value, str)]
    prices = [
        (name, one_line(node[name])) for name in _PRICES if isinstance(node.get(name), str | int | float)
    ]
    if not any(map(is_prose, texts)) and not any(name == "price" for name, _ in prices):
        return
    title = next((one_line(node[name]) for name in _TITLES if isinstance(node.get(name), str)), "")
    if 1 < len(title) <= 150 and not is_prose(title):
        yield f"## {title}"
    lines = [f"- {name}: {value}" for name, value in prices if value and len(value) <= 60]
    if lines:
        yield "\n".join(lines)


def _without_empty_titles(parts: list[str]) -> str:
    kept = [
        part
        for part, following in zip(parts, [*parts[1:], "## "], strict=False)
        if not (part.startswith("## ") and following.startswith("## "))
    ]
    return "\n\n".join(kept)
