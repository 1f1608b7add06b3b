"""Whether style declarations keep text from being seen. Pure."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\([0-9a-f]{1,6})\s?")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)
_LENGTH = re.compile(r"(-?(?:\d+\.?\d*|\.\d+))(px|pt|pc|r?em|ex|ch|%|v[wh]|vmin|vmax|cm|mm|in)?$")
_PIXELS = {"px": 1.0, "": 1.0, "pt": 1.33, "pc": 16.0, "em": 16.0, "rem": 16.0, "ex": 8.0, "ch": 8.0,
           "%": 12.0, "vw": 13.0, "vh": 8.0, "vmin": 8.0, "vmax": 13.0, "cm": 38.0, "mm": 3.8,
           "in": 96.0}  # fmt: skip
"""Of a screen of about 1,300 by 800: only orders of size matter here."""

_FAR = 900.0
"""Pixels beyond an edge at which text is off the screen."""

_UNREADABLE = 2.0
"""Pixels of type size up to which nobody reads it."""

_SIDES = ("left", "right", "top", "bottom", "inset", "margin-left", "margin-top", "inset-inline-start")
_CLIPPED_SIDES = ("height", "max-height", "width", "max-width", "block-size", "inline-size")
_TOLD_BY = frozenset(
    {"display", "visibility", "content-visibility", "zoom", "opacity", "filter", "font-size", "font",
     "transform", "scale", "position", "z-index", "margin-left", "margin-top", "text-indent", "translate",
     "overflow", "overflow-x", "overflow-y", "clip", "clip-path", "-webkit-clip-path", "color",
     "-webkit-text-fill-color"}
)  # fmt: skip
"""Without one of these properties nothing is hidden."""

_AWAY_BY = frozenset({"position", "margin-left", "margin-top", "text-indent", "transform", "translate"})
_SHOWN_BY = {
    "display": re.compile(r"^(?!none)"),
    "visibility": re.compile(r"^visible"),
    "opacity": re.compile(r"^(?:1|0?\.[1-9]|\d\d)"),
    "position": re.compile(r"^(?:static|relative|sticky)"),
    "height": re.compile(r"^(?:auto|[1-9]\d)"),
    "max-height": re.compile(r"^(?:none|[1-9]\d)"),
    "font-size": re.compile(r"^(?:[3-9]|[1-9]\d|1\.|0?\.[5-9]|smaller|larger|medium|large|small|x)"),
    "transform": re.compile(r"^(?:none|translate\w*\(0|scale\(1)"),
    "clip": re.compile(r"^auto"),
    "clip-path": re.compile(r"^none"),
    "color": re.compile(r"^."),
    "background": re.compile(r"^."),
    "background-color": re.compile(r"^."),
    "text-indent": re.compile(r"^0"),
}
_NO_SCALE = re.compile(r"0(?:\.0+)?(?:\s|$)")
_NOTHING_LEFT = re.compile(
    r"inset\((?:[5-9]\d|100)%|circle\(0|ellipse\(0|"
    r"polygon\(0(?:px|%)? 0(?:px|%)?(?:, *0(?:px|%)? 0(?:px|%)?)+\)"
)
_NAMES = {"white": "#ffffff", "black": "#000000", "snow": "#fffafa", "ivory": "#fffff0", "red": "#ff0000",
          "ghostwhite": "#f8f8ff", "whitesmoke": "#f5f5f5", "floralwhite": "#fffaf0"}  # fmt: skip
_CLOSE = 24
"""Difference of each of red, green and blue up to which letters cannot be told from their ground."""


def declarations(style: str) -> dict[str, str]:
    """The declarations of a ``style`` attribute, lower case, without ``!important``; the last one counts."""
    found: dict[str, str] = {}
    style = style.lower()
    if "/*" in style:
        style = _COMMENT.sub("", style)
    if "\\" in style:
        style = _ESCAPE.sub(_unescaped, style)
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            if "!" in value:
                value = value.replace("!important", "").replace("! important", "")
            found[name.strip()] = value.strip()
    return found


def _unescaped(match: re.Match[str]) -> str:
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 else ""


def hides(style: dict[str, str]) -> bool:
    """Whether the declarations keep an element's text from being seen."""
    if style.keys().isdisjoint(_TOLD_BY):
        return False
    return (
        _is_off(style)
        or _is_transparent(style)
        or _is_tiny(style)
        or _is_away(style)
        or _is_clipped(style)
        or is_ground_coloured(style)
    )


def fades_in(style: dict[str, str]) -> bool:
    """Whether it is only for the moment that text cannot be seen: it enters by an animation, as a script
    or a style sheet says."""
    rest = {name: value for name, value in style.items() if name not in ("opacity", "filter")}
    moving = any(
        name in rest for name in ("transform", "transition", "animation", "will-change", "translate")
    )
    moving = moving or any(
        name.startswith(("animation-", "transition-", "-webkit-transform", "--")) for name in rest
    )
    return moving and _is_transparent(style) and not hides(rest)


def shows(style: dict[str, str], hidden: dict[str, str]) -> bool:
    """Whether declarations take back what others hide by: they set one of the same properties to a value
    with which text is seen."""
    return any(
        name in hidden and name in _SHOWN_BY and bool(_SHOWN_BY[name].match(value))
        for name, value in style.items()
    ) and not hides({**hidden, **style})


def _is_off(style: dict[str, str]) -> bool:
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    return style.get("content-visibility") == "hidden" or style.get("zoom") in ("0", "0%")


def _is_transparent(style: dict[str, str]) -> bool:
    if "opacity" not in style and "filter" not in style:
        return False
    for value in (style.get("opacity", ""), _argument(style.get("filter", ""), "opacity")):
        if match := re.match(r"(\d*\.?\d+)(%?)$", value):
            share = float(match[1]) / (100 if match[2] else 1)
            if share <= 0.05:
                return True
    return False


def _argument(value: str, function: str) -> str:
    match = re.search(rf"\b{function}\(\s*([^()]*?)\s*\)", value)
    return match[1] if match else ""


def pixels(value: str) -> float | None:
    """A CSS length in pixels, roughly; None for anything else."""
    match = _LENGTH.match(value)
    return float(match[1]) * _PIXELS[match[2] or ""] if match else None


def is_small_type(style: dict[str, str]) -> bool:
    """Whether the type size leaves nothing to read."""
    value = style.get("font-size", "")
    if not value and "font" in style:
        sized = re.search(r"(?:^|\s)(-?[\d.]+(?:px|pt|r?em|%)?)\s*/", style["font"]) or re.search(
            r"(?:^|\s)([\d.]+(?:px|pt|r?em))", style["font"]
        )
        value = sized[1] if sized else ""
    if value.endswith("%") and (share := pixels(value[:-1])) is not None:
        return share <= 10
    size = pixels(value)
    return size is not None and size <= _UNREADABLE


def _is_tiny(style: dict[str, str]) -> bool:
    if is_small_type(style):
        return True
    if "transform" not in style:
        return "scale" in style and bool(_NO_SCALE.match(style["scale"]))
    transform = style["transform"].replace(" ", "")
    if re.search(r"scale(?:x|y|3d)?\(0*\.?0*(?:,|\))|matrix\(0,0,0,0|rotate[xy]\(-?90deg", transform):
        return True
    return bool(_NO_SCALE.match(style.get("scale", "")))


def _is_away(style: dict[str, str]) -> bool:
    if style.keys().isdisjoint(_AWAY_BY):
        return False
    placed = style.get("position") in ("absolute", "fixed")
    if style.get("position") in ("absolute", "fixed", "relative") and re.match(
        r"-\d+$", style.get("z-index", "")
    ):
        return True
    for side in _SIDES:
        if side not in style:
            continue
        length = pixels(style[side].split(" ")[0])
        if length is None or not (placed or style.get("position") == "relative" or side.startswith("margin")):
            continue
        if length <= -_FAR or (length >= 5 * _FAR and placed):
            return True
    indent = pixels(style["text-indent"].split(" ")[0]) if "text-indent" in style else None
    if indent is not None and (indent <= -_FAR or indent >= 5 * _FAR):
        return True
    if "transform" not in style and "translate" not in style:
        return False
    transform = style.get("transform", "") or f"translate({style.get('translate', '')})"
    for argument in re.findall(r"translate(?:x|y|3d)?\(\s*([^()]*)\)", transform):
        for value in re.split(r"[\s,]+", argument):
            length = pixels(value)
            if length is not None and abs(length) >= _FAR:
                return True
    return False


def _is_clipped(style: dict[str, str]) -> bool:
    overflow = f"{style.get('overflow', '')} {style.get('overflow-y', '')} {style.get('overflow-x', '')}"
    if "hidden" in overflow or "clip" in overflow:
        for side in _CLIPPED_SIDES:
            length = pixels(style.get(side, ""))
            if length is not None and length <= 1 and not (style.get(side, "").endswith("%") and length):
                return True
    if "clip" in style and re.match(
        r"rect\(\s*[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?[\s,]+[01](px)?\s*\)", style["clip"]
    ):
        return True
    path = style.get("clip-path", "") or style.get("-webkit-clip-path", "")
    return bool(_NOTHING_LEFT.match(path))


def is_ground_coloured(style: dict[str, str]) -> bool:
    """Whether letters are transparent, or of the colour that the same declarations give their ground."""
    if "color" not in style and "-webkit-text-fill-color" not in style:
        return False
    if "text" in style.get("background-clip", "") + style.get("-webkit-background-clip", ""):
        return False  # the ground shows through the letters
    colour = _colour(style.get("-webkit-text-fill-color", "") or style.get("color", ""))
    ground = _colour(style.get("background-color", "") or style.get("background", ""))
    return colour == "transparent" or (bool(colour) and are_close(colour, ground))


def text_colour(style: dict[str, str]) -> str:
    """The colour of the letters as ``#rrggbb``, ``transparent`` or, where it is neither, as written."""
    return _colour(style.get("-webkit-text-fill-color", "") or style.get("color", ""))


def are_close(colour: str, ground: str) -> bool:
    """Whether letters of a colour cannot be seen on a ground; both as ``#rrggbb``."""
    if colour == ground:
        return bool(colour)
    if not (re.match(r"#[0-9a-f]{6}$", colour) and re.match(r"#[0-9a-f]{6}$", ground)):
        return False
    pairs = ((int(colour[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5))
    return all(abs(one - other) <= _CLOSE for one, other in pairs)


def _colour(value: str) -> str:
    value = value.strip()
    function = re.match(r"(rgba?|hsla?)\(([^()]*)\)", value) if "(" in value else None
    if function:
        numbers = [each for each in re.split(r"[\s,/]+", function[2].strip()) if each]
        if len(numbers) == 4 and _is_none(numbers[3]):
            return "transparent"
        if function[1].startswith("rgb") and len(numbers) >= 3:
            try:
                parts = [
                    round(float(n[:-1]) * 2.55) if n.endswith("%") else round(float(n)) for n in numbers[:3]
                ]
            except ValueError:
                return value
            return "#" + "".join(f"{max(0, min(part, 255)):02x}" for part in parts)
        if len(numbers) >= 3 and numbers[2].rstrip("%") in ("100", "0"):
            return "#ffffff" if numbers[2].startswith("100") else "#000000"
        return value
    value = value.split(" ")[0]
    if re.match(r"#[0-9a-f]{3,4}$", value):
        value = "#" + "".join(character * 2 for character in value[1:])
    if re.match(r"#[0-9a-f]{8}$", value):
        return "transparent" if value.endswith("00") else value[:7]
    return _NAMES.get(value, value)


def _is_none(value: str) -> bool:
    try:
        return float(value.rstrip("%")) <= (5 if value.endswith("%") else 0.05)
    except ValueError:
        return False
