"""Letters of the colour of the page behind them."""

from __future__ import annotations

import re
from typing import Any

from .hiding import are_close, declarations, text_colour
from .stylesheet import DOUBTFUL, HIDDEN, SEEN

_WHITE = "#ffffff"
_NO_COLOURS = frozenset({"inherit", "initial", "unset", "revert", "currentcolor", "auto"})
_DISGUISE = re.compile(r"\\|/\*")
_GROUNDS = ("background", "background-color", "background-image")


class Grounds:
    """Knows what letters stand on, as far as the page itself says."""

    def __init__(self, root: Any) -> None:
        sheets = " ".join(element.text or "" for element in root.iter("style"))
        linked = any("stylesheet" in (element.get("rel") or "").lower() for element in root.iter("link"))
        self._plain = not linked and "background" not in sheets

    def verdict(self, element: Any) -> str:
        """Whether an element's own colour is that of the ground that an ancestor, or a bare page, gives."""
        written = element.get("style") or ""
        if element.get("color") is None and "color" not in written.lower() and not _DISGUISE.search(written):
            return SEEN
        style = declarations(written)
        if any(name in style for name in _GROUNDS):
            return SEEN
        colour = text_colour(style) or text_colour({"color": (element.get("color") or "").lower()})
        if not colour or colour in _NO_COLOURS:
            return SEEN
        for ancestor in element.iterancestors():
            ground = declarations(ancestor.get("style") or "")
            if "bgcolor" in ancestor.attrib:
                ground.setdefault("background", ancestor.get("bgcolor").lower())
            said = [ground[name] for name in _GROUNDS if name in ground]
            if said:
                return HIDDEN if are_close(colour, text_colour({"color": said[0]})) else SEEN
        if not are_close(colour, _WHITE):
            return SEEN
        return HIDDEN if self._plain else DOUBTFUL
