"""Formulas as LaTeX in dollar signs: once each, though pages carry them two or three times.

Recognised are MathML, and what MathJax 2 and 3, KaTeX, MediaWiki and WordPress make of a formula.
"""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

from .mathml import to_latex

_RENDERED = frozenset(
    {"MathJax_Preview", "MathJax", "MathJax_Display", "MathJax_SVG", "MathJax_SVG_Display",
     "MathJax_CHTML", "mjx-chtml"}
)  # fmt: skip
_WHOLE = frozenset({"katex", "katex-display", "mwe-math-element"})
_SPANS = _RENDERED | _WHOLE
_PICTURES = frozenset({"latex", "tex", "math", "mwe-math-fallback-image-inline",
                       "mwe-math-fallback-image-display"})  # fmt: skip
_MATHML = frozenset({"mwe-math-mathml-inline", "mwe-math-mathml-display", "mwe-math-mathml-a11y",
                     "katex-mathml", "MJX_Assistive_MathML"})  # fmt: skip
_STYLED = re.compile(r"^\{\\(?:displaystyle|textstyle)\s+(.*)\}$", re.S)
_PROSE = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{3,}(?![A-Za-z}])")
_MOST_WORDS = 8
"""Words outside commands in a formula's source beyond which it is no formula but text in hiding."""


FORMULA_TAGS = frozenset(
    {"math", "mjx-container", "{http://www.w3.org/1998/Math/MathML}math", "script", "span", "div", "img"}
)
"""The elements that may be one."""


def is_formula(element: Any) -> bool:
    """Whether an element may be a formula; cheap, as it is asked of every element."""
    tag = element.tag
    if tag in ("math", "mjx-container", "{http://www.w3.org/1998/Math/MathML}math"):
        return True
    if tag == "script":
        return (element.get("type") or "").startswith("math/")
    if tag in ("span", "div", "img"):
        names = element.get("class")
        return bool(names) and not (_PICTURES if tag == "img" else _SPANS).isdisjoint(names.split())
    return False


def is_hidden_formula(element: Any) -> bool:
    """Whether a hidden element is the MathML of a formula that a picture or a drawing shows."""
    tag = element.tag
    if tag == "img":
        return is_formula(element)
    if tag != "mjx-assistive-mml" and _MATHML.isdisjoint((element.get("class") or "").split()):
        return False
    return len(element) == 1 and element[0].tag == "math" and not (element.text or "").strip()


def formula_of(element: Any) -> str | None:
    """The formula that an element is; "" where it is one that stands elsewhere too; None for all others."""
    if not is_formula(element):
        return None
    tag = element.tag
    if tag == "script":
        return _of_script(element)
    if tag == "img":
        source = (element.get("alt") or "").strip()
        return _dollars(source, False) if source else None
    if tag.endswith("math"):
        return _of_math(element)
    names = set((element.get("class") or "").split())
    if not names.isdisjoint(_RENDERED) and _script_follows(element):
        return ""
    inner = next(element.iter("math", "{*}math"), None)
    if inner is not None:
        return _of_math(inner)
    if not names.isdisjoint(_WHOLE):
        picture = next(element.iter("img"), None)
        return (
            _dollars(picture.get("alt").strip(), False)
            if picture is not None and picture.get("alt")
            else None
        )
    if tag == "mjx-container" and (source := element.get("data-latex") or element.get("aria-label")):
        return str(source).strip()
    return None


def _of_script(element: Any) -> str:
    kind, source = element.get("type") or "", (element.text or "").strip()
    if not source:
        return ""
    if "tex" in kind:
        return _dollars(source, "display" in kind)
    if "mml" in kind:
        tree = etree.fromstring(source.encode(), etree.HTMLParser(encoding="utf-8"))
        inner = next(tree.iter("math"), None) if tree is not None else None
        return _of_math(inner) if inner is not None else ""
    return source


def _of_math(element: Any) -> str:
    display = element.get("display") == "block" or element.get("mode") == "display"
    for annotation in element.iter("{*}annotation", "annotation"):
        if "tex" in (annotation.get("encoding") or "").lower() and (annotation.text or "").strip():
            source = annotation.text.strip()
            if not _is_prose(source):
                return _dollars(source, display)
    source = (element.get("alttext") or "").strip()
    if source and not _is_prose(source):
        return _dollars(source, display)
    source = to_latex(element)
    if re.fullmatch(r"[\w .,;:%+\-−]*", source) and "_" not in source:
        return source  # a number or a name: dollars would say nothing
    return _dollars(source, display)


def _is_prose(source: str) -> bool:
    """Text that only poses as a formula's source; browsers never show it."""
    bare = re.sub(r"\\(?:text|mathrm|operatorname|mbox)\w*\*?\s*\{[^{}]*\}", " ", source)
    return len(_PROSE.findall(bare)) > _MOST_WORDS


def _dollars(source: str, display: bool) -> str:
    source = re.sub(r"\s+", " ", source).strip()
    if match := _STYLED.match(source):
        source = match.group(1).strip()
    if not source:
        return ""
    if source.startswith("$") and source.endswith("$") and len(source) > 2:
        return source
    return f"$${source}$$" if display else f"${source}$"


def _script_follows(element: Any) -> bool:
    """Whether the formula's source stands in a script right after it (its preview may lie between)."""
    following = element.getnext()
    for _ in range(3):
        if following is None:
            parent = element.getparent()  # MathJax_Display wraps the rendered span
            if parent is None or "MathJax_Display" not in (parent.get("class") or ""):
                return False
            element, following = parent, parent.getnext()
            continue
        if following.tag == "script":
            return (following.get("type") or "").startswith("math/")
        following = following.getnext()
    return False
