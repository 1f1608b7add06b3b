"""XML that is no feed, as lines of labelled text."""

from __future__ import annotations

from typing import Any

from lxml import etree

_MAX_LINES = 50_000
_LONGEST_VALUE = 2_000


def to_lines(root: Any) -> str:
    """One line for each element that has text or values of its own: ``name: text (attribute: value)``.

    Text with elements in it is one line, its words in order. Groups of elements are kept apart by a blank
    line. Iterative: depth does not matter.
    """
    lines: list[str] = []
    walker = etree.iterwalk(root, events=("start", "end"))
    skipped: Any = None
    for event, element in walker:
        if len(lines) >= _MAX_LINES:
            break
        if event == "end":
            if element is skipped:
                skipped = None
            elif isinstance(element.tag, str) and len(element) and lines and lines[-1]:
                lines.append("")
            continue
        if not isinstance(element.tag, str):
            skipped = element
            walker.skip_subtree()
            continue
        mixed = len(element) > 0 and _is_mixed(element)
        text = " ".join(" ".join(map(str, element.itertext())).split()) if mixed else _own(element)
        line = _line(element, text)
        if line:
            lines.append(line)
        if mixed:
            skipped = element
            walker.skip_subtree()
    return "\n".join(lines).strip("\n")


def _own(element: Any) -> str:
    return "" if len(element) else " ".join((element.text or "").split())


def _is_mixed(element: Any) -> bool:
    """Whether text and elements stand side by side, as in prose."""
    if (element.text or "").strip():
        return True
    return any((child.tail or "").strip() for child in element)


def _line(element: Any, text: str) -> str:
    name = etree.QName(element).localname
    values = [
        f"{etree.QName(key).localname}: {' '.join(str(value).split())[:_LONGEST_VALUE]}"
        for key, value in element.attrib.items()
        if value.strip() and not str(key).startswith("{http://www.w3.org/2001/XMLSchema-instance}")
    ]
    attributes = ", ".join(values)
    if text:
        return f"{name}: {text}" + (f" ({attributes})" if attributes else "")
    return f"{name}: {attributes}" if attributes else ""
