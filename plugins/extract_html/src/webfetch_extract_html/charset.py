"""From bytes to text: BOM, then what the bytes can prove, then what was declared, then detection."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Mapping

from .detect import detect, is_iso_2022_jp, wide_without_mark
from .prescan import meta_charset

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: it begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_PARAMETER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.I)
_XML = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.:-]+)[\"']", re.I)
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ue000-\uf8ff\ufffd]")
_PLAIN = re.compile(r"[A-Za-z0-9 \t\r\n]")
_SAMPLE_CHARS = 16_384
_HEAD_BYTES = 4_096
_SAMPLE_BYTES = 1 << 18

# What a label means on the web (WHATWG Encoding Standard), where Python takes it more narrowly.
_LABELS = {
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "iso8859-1": "cp1252",
    "iso_8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "l1": "cp1252",
    "iso-8859-9": "cp1254",
    "latin5": "cp1254",
    "iso-8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gb_2312-80": "gb18030",
    "gbk": "gb18030",
    "x-gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "windows-31j": "cp932",
    "euc-kr": "cp949",
    "ks_c_5601-1987": "cp949",
    "windows-949": "cp949",
    "x-user-defined": "cp1252",
    "unicode": "utf-16-le",
    "utf8": "utf-8",
}


def decode(body: bytes, headers: Mapping[str, str] | None = None, content_type: str = "") -> str:
    """Return the text of ``body``; bytes that fit no encoding become U+FFFD.

    A BOM decides. Bytes that are valid UTF-8 with characters beyond ASCII are UTF-8, whatever a header
    says (no text in another encoding is valid by chance) unless a multi-byte encoding is declared.
    Then the header, the XML declaration or ``<meta>`` of the first 4 KiB, then detection.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return body[len(bom) :].decode(encoding, "replace")
    declared = _declared(body, headers or {}, content_type)
    if not declared and is_iso_2022_jp(body):
        declared = ["iso2022_jp"]
    if not any(map(_is_multi_byte, declared[:1])):
        try:
            return body.decode("utf-8")
        except UnicodeDecodeError as error:
            # One damaged character in a long UTF-8 page does not make it another encoding.
            if _mostly_utf8(body, error) or declared == ["utf-8"]:
                return body.decode("utf-8", "replace")
        declared = [encoding for encoding in declared if encoding != "utf-8"]
    for encoding in declared:
        text = body.decode(encoding, "replace")
        if text.count("\ufffd") * 200 <= len(text):
            return text
    with contextlib.suppress(UnicodeDecodeError):
        return body.decode("utf-8")
    return body.decode(declared[0] if declared else _detected(body), "replace")


def is_binary(text: str) -> bool:
    """Whether what came out of :func:`decode` is no text: one character in ten of its beginning is a
    control or none at all, and plain letters, digits and blanks are fewer than half of it.

    Zero bytes do not count: pages that were padded with them are read by browsers as if they were not there.
    """
    sample = text[: 4 * _SAMPLE_CHARS].replace("\0", "")[:_SAMPLE_CHARS]
    if not sample:
        return bool(text)
    plain = len(_PLAIN.findall(sample))
    return len(_NO_TEXT.findall(sample)) * 10 > len(sample) and plain * 2 < len(sample)


def _declared(body: bytes, headers: Mapping[str, str], content_type: str) -> list[str]:
    """What the header, the XML declaration and ``<meta>`` say, in this order, each encoding once."""
    found: list[str | None] = []
    for value in (content_type, headers.get("content-type", "")):
        if match := _PARAMETER.search(value):
            found.append(_known(match.group(1)))
    head = body[:_HEAD_BYTES]
    prolog = _XML.search(head)
    for label in (prolog[1].decode("ascii", "replace") if prolog else "", meta_charset(head)):
        if encoding := _known(label):
            # A declaration that could be read as ASCII is not UTF-16.
            found.append("utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding)
    if wide := wide_without_mark(body):
        found.insert(0, wide)
    return list(dict.fromkeys(encoding for encoding in found if encoding))


def _known(label: str) -> str | None:
    """Python's name of a web encoding label; None for an unknown one and for codecs that are no charset."""
    label = label.strip().lower()
    try:
        info = codecs.lookup(_LABELS.get(label, label))
        b"".decode(info.name)
    except (LookupError, ValueError):
        return None
    if info.name in ("utf-7", "idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"):
        return None
    return _LABELS.get(info.name, info.name)


def _is_multi_byte(encoding: str) -> bool:
    return encoding.startswith(("utf-16", "utf-32", "iso2022", "hz"))


def _mostly_utf8(body: bytes, error: UnicodeDecodeError) -> bool:
    if error.start < 64:
        return False
    sample = body[:_SAMPLE_BYTES].decode("utf-8", "replace")
    bad = sample.count("\ufffd")
    good = sum(1 for character in sample if character > "\x7f") - bad
    return good > 20 * bad


def _detected(body: bytes) -> str:
    if found := detect(body):
        return found
    from charset_normalizer import from_bytes

    best = from_bytes(body[:_SAMPLE_BYTES]).best()
    return (_known(best.encoding) if best is not None else None) or "cp1252"
