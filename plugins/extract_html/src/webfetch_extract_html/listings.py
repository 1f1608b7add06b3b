"""Program code on a page: what is a listing, its text byte for byte, and its language."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .inline import BLOCKS, CODE_TAGS

PRE_TAGS = frozenset({"pre", "listing", "xmp", "plaintext"})
_LANGUAGE = re.compile(
    r"(?:^|[\s;])(?:language-|lang-|highlight-source-|highlight-text-|highlight-|code-|brush:\s*)"
    r"(?!source|text|lines?\b|block\b|wrapper\b|toolbar\b|container\b)([\w+#.-]+)"
)
_MARKED = re.compile(r"(?:^|\s)(?:hljs|sourceCode|prettyprint|prism|codehilite)(?:\s+([\w+#-]+))?(?:$|\s)")
_LANGUAGE_ATTRIBUTES = ("data-lang", "data-language", "data-enlighter-language", "lang-name")
_NO_LANGUAGE = frozenset(
    {"default", "none", "plain", "plaintext", "text", "txt", "nohighlight", "notranslate", "hljs", "auto",
     "linenums", "numberlines", "code", "output", "source"}
)  # fmt: skip
_NUMBERS = re.compile(
    r"(?:^|[\s_-])(?:line-?numbers?(?:-rows)?|linenos?|lineno|line-num|ln-num|gutter|hljs-ln-numbers|blob-num|"
    r"copy(?:-?btn|-?button|-?code)?|clipboard)(?:$|[\s_-])",
    re.I,
)
_CODE_CELL = re.compile(
    r"(?:^|\s)(?:blob-code\S*|code|rouge-code|hljs-ln-code|code-cell|line-content)(?:$|\s)"
)
_NOT_CODE = frozenset({"script", "style", "button", "textarea", "svg"})
_LANGUAGE_NAME = re.compile(r"[\w+#.-]{1,20}")


def is_listing(element: Any) -> bool:
    """Whether an element is code of several lines: ``pre``, or inline code set as a block."""
    tag = element.tag
    if tag in PRE_TAGS:
        return True
    style = (element.get("style") or "").replace(" ", "").lower()
    if tag not in CODE_TAGS:
        return (
            tag == "div"
            and "white-space:pre" in style
            and "white-space:pre-line" not in style
            and ("monospace" in style)
        )
    if "display:block" in style or "white-space:pre" in style:
        return True
    if sum(1 for _ in element.iter("br")) >= 2:
        return True
    names = element.get("class") or ""
    return (
        bool(_LANGUAGE.search(names) or _MARKED.search(names)) and "\n" in "".join(element.itertext()).strip()
    )


def code_cells(table: Any) -> list[Any]:
    """The cells that hold the lines of code of a table that only sets numbers beside them; else nothing."""
    if table.find(".//pre") is not None or table.find(".//table") is not None:
        return []
    cells = [cell for cell in table.iter("td") if _CODE_CELL.search(cell.get("class") or "")]
    if not cells:
        return []
    others = sum(1 for cell in table.iter("td", "th")) - len(cells)
    return cells if others <= len(cells) else []


def code_of(element: Any) -> str:
    """The text of code, byte for byte; only the first and last line breaks, and line numbers, go."""
    parts: list[str] = []
    last = "\n"

    def add(text: str | None) -> None:
        nonlocal last
        if text:
            parts.append(text)
            last = text[-1]

    walker = etree.iterwalk(element, events=("start", "end"))
    left_out: Any = None
    for event, node in walker:
        tag = node.tag
        if event == "start":
            if not isinstance(tag, str) or tag in _NOT_CODE or (node is not element and _is_numbers(node)):
                left_out = node
                walker.skip_subtree()
                continue
            if tag == "br" or (node is not element and tag in BLOCKS and last != "\n"):
                add("\n")
            add(node.text)
        elif node is not element:
            if tag in BLOCKS and node is not left_out and last != "\n":
                add("\n")
            add(node.tail)
    code = "".join(parts).replace("\r\n", "\n").replace("\r", "\n")
    return re.sub(r"\A(?:[ \t]*\n)+", "", code).rstrip()


def _is_numbers(node: Any) -> bool:
    names = node.get("class")
    return bool(names and _NUMBERS.search(names))


def is_numbering(code: str) -> bool:
    """Nothing, or line numbers alone."""
    return not code.replace("\n", "").strip(" \t0123456789")


def language_of(element: Any) -> str:
    """The language that a class or an attribute names, lower case; empty when none does."""
    candidates = [element, *element.iter("code"), *list(element.iterancestors())[:2]]
    for each in candidates:
        names = [each.get(name) for name in _LANGUAGE_ATTRIBUTES]
        classes = each.get("class") or ""
        names += [match.group(1) for match in _LANGUAGE.finditer(classes)]
        names += [match.group(1) for match in _MARKED.finditer(classes)]
        for name in ((name or "").lower().strip(";,") for name in names):
            if name not in _NO_LANGUAGE and _LANGUAGE_NAME.fullmatch(name):
                return name
    return ""


def fenced(code: str, language: str) -> str:
    """The code between fences that it does not contain itself."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"
