"""Microdata and RDFa as the objects that JSON-LD would say."""

from __future__ import annotations

from typing import Any

_MAX_ITEMS = 500


def read_microdata(root: Any) -> list[dict[str, Any]]:
    """The outermost things that a page marks with ``itemscope`` or ``typeof``, with their properties."""
    found: list[dict[str, Any]] = []
    open_items: dict[Any, dict[str, Any]] = {}
    count = 0
    for element in root.iter("*"):
        if not element.attrib:
            continue
        starts = "itemscope" in element.attrib or "typeof" in element.attrib
        name = element.get("itemprop") or (element.get("property") if _in_rdfa(element, open_items) else None)
        if not starts and not name:
            continue
        if count >= _MAX_ITEMS * 20:
            break
        count += 1
        owner = next((open_items[each] for each in element.iterancestors() if each in open_items), None)
        if starts:
            item: dict[str, Any] = {"@type": _type(element)}
            open_items[element] = item
            if name and owner is not None:
                _add(owner, name, item)
            elif len(found) < _MAX_ITEMS:
                found.append(item)
        elif name and owner is not None:
            _add(owner, name, _value(element))
    return found


def _in_rdfa(element: Any, open_items: dict[Any, dict[str, Any]]) -> bool:
    return element.tag != "meta" or any(each in open_items for each in element.iterancestors())


def _type(element: Any) -> str:
    kind = (element.get("itemtype") or element.get("typeof") or "").split()
    return kind[0].rpartition("/")[2].rpartition(":")[2] if kind else ""


def _add(item: dict[str, Any], names: str, value: Any) -> None:
    for name in (each.rpartition(":")[2] for each in names.split()):
        if value in ("", None):
            continue
        if name not in item:
            item[name] = value
        elif isinstance(item[name], list):
            item[name].append(value)
        else:
            item[name] = [item[name], value]


def _value(element: Any) -> str:
    for name in ("content", "datetime"):
        if element.get(name):
            return str(element.get(name)).strip()
    if element.tag in ("a", "link", "area"):
        text = " ".join("".join(element.itertext()).split())
        return text or (element.get("href") or "").strip()
    if element.tag in ("img", "audio", "video", "source", "iframe"):
        return ""
    if element.tag in ("data", "meter") and element.get("value"):
        return str(element.get("value"))
    return " ".join(" ".join(element.itertext()).split())
