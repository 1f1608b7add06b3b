"""Text that would pass for a line of ours, whatever letters, brackets or blanks it is written in. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_OPENING = "[［【〔〖〘〚⟦⟬⦋⦍⦏❲⁅﹝⸢⎡⎢⎣"
_CLOSING = "]］】〕〗〙〛⟧⟭⦌⦎⦐❳⁆﹞⸥⎤⎥⎦"
_BARS = "|｜∣❘❙❚│┃¦"
_COLONS = ":：꞉∶ː˸﹕︓⁚׃܃܄᛬"
_FILLERS = "\u115f\u1160\u3164\uffa0\u17b4\u17b5"
_IGNORED = "\0"

# Letters of other scripts that look like Latin ones, after NFKD and case folding: the words below
# are what they could spell. Unicode's own table (UTS 39) is 600 kB; these are the ones in use.
_TWINS = {
    **dict(zip("аеорсхуѕіјһԁѡьӏтнвпԛгк", "aeopcxysijhdwbithbnqrk", strict=True)),
    **dict(zip("οαευρνιτχκη", "oaeupvitxkn", strict=True)),
    **dict(zip("օոսհցքաե", "onuhgpae", strict=True)),
    **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),
    **dict(zip("ɑɡıℓøđħł", "agilodhl", strict=True)),
    "0": "o",
    "1": "l",
    "ƒ": "f",
}


class _Skeleton(dict[int, str]):
    """One plain character for each: what it looks like, a blank, or ``_IGNORED`` for what is not seen."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        self[code] = found = self._look(character)
        return found

    @staticmethod
    def _look(character: str) -> str:
        for group, plain in ((_OPENING, "["), (_CLOSING, "]"), (_COLONS, ":"), (_FILLERS, _IGNORED)):
            if character in group:
                return plain
        category = unicodedata.category(character)
        if category in ("Cf", "Mn", "Me") or (category == "Cc" and not character.isspace()):
            return _IGNORED
        base = unicodedata.normalize("NFKD", character).casefold()[:1]
        base = _TWINS.get(base, base)
        return base if base.isalnum() and base.isascii() else " "


_SKELETON = _Skeleton()


_OURS = re.compile(
    r"\[ *(?:(?:source|pages|cache|unverified|note|failed|left +out|partial) *:"
    r"|(?:fresh +search|web +excerpts|truncated|characters +[0-9lo]+)\b"
    r"|end +[0-9a-z]{8}\b)"
)

_FLAT = str.maketrans(
    {**dict.fromkeys(_OPENING, "("), **dict.fromkeys(_CLOSING, ")"), **dict.fromkeys(_BARS, "/")}
)


def defused(text: str) -> str:
    """``text`` in which nothing can pass for a line of ours: the bracket that begins it becomes round.

    Everything else stays as it is.
    """
    skeleton = text.translate(_SKELETON)
    seen: Sequence[int] = range(len(text))
    if _IGNORED in skeleton:
        seen = [place for place, look in enumerate(skeleton) if look != _IGNORED]
        skeleton = skeleton.replace(_IGNORED, "")
    found = [seen[match.start()] for match in _OURS.finditer(skeleton)]
    if not found:
        return text
    characters = list(text)
    for place in found:
        characters[place] = "("
    return "".join(characters)


def unbracketed(text: str) -> str:
    """``text`` with round brackets for all square ones and slashes for bars: fit for a header of ours."""
    return text.translate(_FLAT)
