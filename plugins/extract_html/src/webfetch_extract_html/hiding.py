"""Whether style declarations keep text from being seen."""

from __future__ import annotations

import re

_FAR = re.compile(
    r"^-\s*(?:\d{4,}(?:\.\d+)?(?:px|pt)?|\d{2,}(?:\.\d+)?r?em|[1-9]\d{2,}(?:\.\d+)?(?:%|vw|vh))$"
)
_ZERO = re.compile(r"^0*(?:\.0+)?(?:px|em|rem|%|pt)?$")
_TINY = re.compile(r"^(?:0*\.\d+|0|1|1\.0+)(?:px|pt)$|^0*\.0\d*r?em$")


def declarations(style: str) -> dict[str, str]:
    """The declarations of a ``style`` attribute, lower case, without ``!important``."""
    found: dict[str, str] = {}
    for part in style.lower().split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip()] = value.replace("!important", "").strip()
    return found


def hides(style: dict[str, str]) -> bool:
    """Whether the declarations keep an element's text from being seen."""
    get = style.get
    if get("display") == "none" or get("visibility") in ("hidden", "collapse"):
        return True
    if get("opacity") and _ZERO.match(style["opacity"]):
        return True
    size = get("font-size", "")
    if size and (_ZERO.match(size) or _TINY.match(size)):
        return True
    if get("position") in ("absolute", "fixed", "relative") and re.match(r"-\d+$", get("z-index", "")):
        return True
    if get("position") in ("absolute", "fixed") and any(
        _FAR.match(style.get(side, "")) for side in ("left", "right", "top", "bottom")
    ):
        return True
    if _FAR.match(get("text-indent", "")):
        return True
    if "translate" in get("transform", "") and re.search(r"\(-\d{4,}px|\(-\d{3,}%", style["transform"]):
        return True
    if "scale(0)" in get("transform", "").replace(" ", ""):
        return True
    clipped = get("overflow") in ("hidden", "clip") or get("overflow-y") == "hidden"
    if clipped and any(
        re.match(r"^[01](?:px)?$", style.get(side, "")) for side in ("height", "max-height", "width")
    ):
        return True
    if re.match(r"rect\(\s*[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?\s*\)", get("clip", "")):
        return True
    if re.match(r"inset\((?:50|100)%", get("clip-path", "")):
        return True
    colour = _colour(get("color", ""))
    ground = _colour(get("background-color", "") or get("background", ""))
    return bool(colour) and (colour == "transparent" or colour == ground)


_NAMES = {"white": "#ffffff", "black": "#000000", "#fff": "#ffffff", "#000": "#000000"}


def _colour(value: str) -> str:
    value = value.replace(" ", "")
    if re.match(r"rgba\(.*,0(?:\.0+)?\)$", value):
        return "transparent"
    if match := re.match(r"rgb\((\d+),(\d+),(\d+)\)$", value):
        return "#" + "".join(f"{int(part):02x}" for part in match.groups())
    if re.match(r"#[0-9a-f]{3}$", value):
        return "#" + "".join(character * 2 for character in value[1:])
    return _NAMES.get(value, value)
