"""The countries and languages that Brave takes. Pure.

Source: the closed lists of its API reference; they are not ISO throughout (``jp`` is Japanese).
"""

from __future__ import annotations

_COUNTRIES = """
    ALL AR AT AU BE BR CA CH CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH PL PT RU SA SE
    TR TW US ZA
"""
COUNTRIES = frozenset(_COUNTRIES.split())
"""What the parameter ``country`` takes; ``ALL`` is the whole world."""

_LANGUAGES = """
    ar bg bn ca cs da de en en-gb es et eu fi fr gl gu he hi hr hu is it jp kn ko lt lv ml mr ms nb nl
    pa pl pt-br pt-pt ro ru sk sl sr sv ta te th tr uk vi zh-hans zh-hant
"""
LANGUAGES = frozenset(_LANGUAGES.split())
"""What the parameter ``search_lang`` takes."""

_SPELLINGS = {
    "en-uk": "en-gb",
    "iw": "he",
    "ja": "jp",
    "nn": "nb",
    "no": "nb",
    "pt": "pt-br",
    "zh": "zh-hans",
    "zh-hk": "zh-hant",
    "zh-mo": "zh-hant",
    "zh-tw": "zh-hant",
}


def search_lang(language: str | None) -> str:
    """Brave's code for a language tag (``pt-PT``, ``zh_TW``, ``ja``), or "" where it has none."""
    tag = (language or "").strip().lower().replace("_", "-")
    while tag:
        code = _SPELLINGS.get(tag, tag)
        if code in LANGUAGES:
            return code
        tag = tag.rpartition("-")[0]
    return ""


def country_code(country: str | None) -> str:
    """Brave's code for a country; ``ALL`` for one that it does not take, "" for none.

    Left out, Brave would answer for the United States.
    """
    code = (country or "").strip().upper()
    code = "GB" if code == "UK" else code
    return code if code in COUNTRIES or not code else "ALL"
