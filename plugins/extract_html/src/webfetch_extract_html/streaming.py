"""Content that a page carries aside and puts in its place while it loads."""

from __future__ import annotations

import re
from typing import Any

from lxml import etree

_SLOT = re.compile(r"^[SP]:[0-9a-f]+$")


def place_streamed(root: Any) -> None:
    """Put server-streamed content (hidden ``S:n`` elements) where its script would (``B:n`` templates).

    What stands there meanwhile ("Loading...") goes. Declarative shadow trees are opened, too.
    """
    _open_shadows(root)
    slots = {
        element.get("id"): element for element in root.iter("div") if _SLOT.match(element.get("id") or "")
    }
    if not slots:
        return
    marks = {element.get("id"): element for element in root.iter("template") if element.get("id")}
    for name, slot in slots.items():
        slot.attrib.pop("hidden", None)
        mark = marks.get(name.replace("S:", "B:").replace("P:", "B:"))
        if mark is None or any(ancestor is slot for ancestor in mark.iterancestors()):
            continue
        following = mark.getnext()
        while following is not None:
            after = following.getnext()
            ends = following.tag is etree.Comment and (following.text or "").strip() == "/$"
            following.getparent().remove(following)
            if ends:
                break
            following = after
        mark.addnext(slot)


def _open_shadows(root: Any) -> None:
    """Put declarative shadow trees where browsers show them: in place of their template, with the host's
    own children in their slots."""
    for template in list(root.iter("template")):
        host = template.getparent()
        if host is None or not (template.get("shadowrootmode") or template.get("shadowroot")):
            continue
        template.tag = "div"
        slots: dict[str, Any] = {}
        for slot in template.iter("slot"):
            slots.setdefault(slot.get("name") or "", slot)
        for child in [each for each in host if each is not template and isinstance(each.tag, str)]:
            place = slots.get(child.get("slot") or "")
            if place is not None:
                place.append(child)
