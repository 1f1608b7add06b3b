"""What the page's own style sheets hide."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

from attrs import Factory, define, frozen

from .hiding import declarations, fades_in, hides, shows
from .selectors import Selector, parse

_MAX_CHARS = 300_000
_MAX_RULES = 4_000
_NAME = re.compile(r"[.#]([\w-]+)")
_ALWAYS = re.compile(r"@(?:supports|layer|container)\b", re.I)
_ON_SCREENS = re.compile(
    r"@media\s*(?:only\s+)?(?:screen|all)?\s*(?:(?:and\s*)?\(min-(?:device-)?width:\s*0\w*\)\s*)?$", re.I
)
_CSS_DATA = re.compile(r"data:text/css[^,]*?(;base64)?,", re.I)

HIDDEN, DOUBTFUL, SEEN = "hidden", "doubtful", ""


@frozen
class _Rule:
    selector: Selector
    style: dict[str, str]


@define
class _Patience:
    """How many more times a rule may be held against an element: a page can have too many of both."""

    left: int = 300_000


@frozen
class HiddenRules:
    """The rules that hide, by what their last part is looked up by; and what may show it again."""

    rules: dict[str, list[_Rule]]
    showing: tuple[_Rule, ...] = ()
    doubtful: frozenset[str] = frozenset()
    """Names of which another rule may show what has them."""
    scripts: str = ""
    """The page's scripts: they may show what has a name that is a word of theirs."""
    words: dict[str, bool] = Factory(dict)
    """Which names were found in the scripts."""
    near: dict[tuple[str, str | None, str | None], list[_Rule]] = Factory(dict)
    """The rules that fit a tag, id and class: pages repeat them."""
    takers_back: dict[int, list[_Rule]] = Factory(dict)
    """What may take back each hiding rule, by the identity of its style."""
    patience: _Patience = Factory(_Patience)

    def verdict(self, element: Any) -> str:
        """``hidden``, ``doubtful`` (it may be shown: menus, tabs, entrance animations) or empty."""
        if not self.rules:
            return SEEN
        found = SEEN
        for rule in self._fitting(element):
            self.patience.left -= 1
            if self.patience.left < 0:
                break
            if not rule.selector.matches(element):
                continue
            if any(each.selector.matches(element) for each in self._takers_back(rule)):
                continue
            if fades_in(rule.style) or any(map(self._is_doubtful, rule.selector.subject.names)):
                found = DOUBTFUL
            else:
                return HIDDEN
        return found

    def _is_doubtful(self, name: str) -> bool:
        if name in self.doubtful:
            return True
        found = self.words.get(name)
        if found is None:
            found = name in self.scripts and bool(
                re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", self.scripts)
            )
            self.words[name] = found
        return found

    def _takers_back(self, rule: _Rule) -> list[_Rule]:
        found = self.takers_back.get(id(rule.style))
        if found is None:
            found = [each for each in self.showing if shows(each.style, rule.style)]
            self.takers_back[id(rule.style)] = found
        return found

    def _fitting(self, element: Any) -> list[_Rule]:
        key = (element.tag, element.get("id"), element.get("class"))
        found = self.near.get(key)
        if found is None:
            candidates = self._candidates(*key) if self.patience.left > 0 else []
            self.patience.left -= len(candidates)
            have = frozenset((key[2] or "").split())
            found = [rule for rule in candidates if rule.selector.subject.fits(key[0], key[1], have)]
            self.near[key] = found
        return found

    def _candidates(self, tag: str, name: str | None, names: str | None) -> list[_Rule]:
        rules = self.rules
        keys = [tag, "*", "", "["]
        if name:
            keys.append(f"#{name}")
        if names:
            keys += [f".{each}" for each in names.split()[:50]]
        return [rule for key in keys if key in rules for rule in rules[key]]


def hidden_rules(root: Any) -> HiddenRules:
    """Read the ``<style>`` elements and style sheets that are data. Rules for print, for narrow screens and
    the like neither hide nor show here."""
    sheets = "\n".join(_sheets(root))[:_MAX_CHARS]
    if not sheets:
        return HiddenRules({})
    rules: dict[str, list[_Rule]] = {}
    others: list[tuple[str, str]] = []
    count = 0
    for selectors, body in _rules(sheets):
        style = declarations(body)
        if not hides(style):
            others.append((selectors, body))
            continue
        for text in selectors.split(","):
            selector = parse(text)
            if selector is not None and count < _MAX_RULES:
                count += 1
                rules.setdefault(selector.subject.key, []).append(_Rule(selector, style))
    if not rules:
        return HiddenRules({})
    hiding = [rule for each in rules.values() for rule in each]
    names = {name for rule in hiding for name in rule.selector.subject.names}
    showing: list[_Rule] = []
    doubtful: set[str] = set()
    properties = frozenset(name for rule in hiding for name in rule.style)
    for selectors, body in others:
        mentioned = names.intersection(_NAME.findall(selectors))
        if not mentioned or properties.isdisjoint(style := declarations(body)):
            continue
        for name in mentioned:
            if any(name in rule.selector.subject.names and shows(style, rule.style) for rule in hiding):
                doubtful.add(name)
        parsed = (parse(text) for text in selectors.split(","))
        showing += [_Rule(each, style) for each in parsed if each is not None][: 200 - len(showing)]
    scripts = "\n".join(element.text or "" for element in root.iter("script"))[:_MAX_CHARS]
    return HiddenRules(rules, tuple(showing), frozenset(doubtful), scripts)


def _sheets(root: Any) -> Iterator[str]:
    for element in root.iter("style", "link"):
        media = (element.get("media") or "").lower()
        if media and not re.match(r"\s*(?:only\s+)?(?:all|screen)\s*$", media):
            continue
        if element.tag == "style":
            yield element.text or ""
        elif "stylesheet" in (element.get("rel") or "").lower():
            address = element.get("href") or ""
            match = _CSS_DATA.match(address)
            if match and len(address) < _MAX_CHARS:
                raw = unquote_to_bytes(address[match.end() :])
                yield _unpacked(raw) if match[1] else raw.decode("utf-8", "replace")


def _unpacked(raw: bytes) -> str:
    import base64
    import binascii

    try:
        return base64.b64decode(raw).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of the rules that hold on a screen. One pass over the braces."""
    sheet = "".join(
        part.partition("*/")[2] if number else part for number, part in enumerate(sheet.split("/*"))
    )
    position = 0
    open_rules: list[tuple[str, bool]] = []  # prelude, and whether what is in it holds
    for brace in re.finditer(r"[{}]", sheet):
        text = sheet[position : brace.start()]
        position = brace.end()
        if brace.group() == "{":
            prelude = text.rpartition(";")[2].strip()
            holds = not open_rules or open_rules[-1][1]
            if prelude.startswith("@"):
                holds = holds and bool(_ALWAYS.match(prelude) or _ON_SCREENS.match(prelude))
            elif open_rules and not open_rules[-1][0].startswith("@"):
                holds = False  # nested rules
            open_rules.append((prelude, holds))
            continue
        if open_rules:
            prelude, holds = open_rules.pop()
            if holds and not prelude.startswith("@"):
                yield prelude, text
