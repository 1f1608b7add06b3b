from __future__ import annotations

import codecs

import pytest
from webfetch_extract_html.charset import decode

TEXT = "Größe: “naïve” – 5 €"


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (codecs.BOM_UTF8 + TEXT.encode(), "text/html; charset=latin-1", TEXT),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "text/html; charset=utf-8", TEXT),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "", TEXT),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "", TEXT),
        (TEXT.encode(), "text/html; charset=iso-8859-1", TEXT),
        (TEXT.encode(), "", TEXT),
        (TEXT.encode("cp1252"), "text/html; charset=ISO-8859-1", TEXT),
        (TEXT.encode("cp1252"), "text/html; charset='us-ascii'", TEXT),
        ("Уровень воды".encode("koi8-r"), 'text/html; charset="koi8-r"', "Уровень воды"),
        (
            b"<meta charset=windows-1251>" + "Уровень".encode("cp1251"),
            "",
            "<meta charset=windows-1251>Уровень",
        ),
        (
            b"<meta http-equiv=Content-Type content='text/html; charset=gb2312'>"
            + "朱镕基水位".encode("gb18030"),
            "",
            None,
        ),
        (b'<?xml version="1.0" encoding="shift_jis"?>' + "水位①".encode("cp932"), "", None),
        ("水位".encode("euc-jp"), "text/html; charset=euc-jp", "水位"),
        ("수위".encode("cp949"), "text/html; charset=euc-kr", "수위"),
        ("水位".encode("utf-16-le"), "text/html; charset=utf-16le", "水位"),
        ("水位".encode("iso2022_jp"), "text/html; charset=iso-2022-jp", "水位"),
        (b"<!-- <meta charset=koi8-r> -->" + "é".encode(), "", "<!-- <meta charset=koi8-r> -->é"),
        (b"<meta charset=utf-16>caf\xc3\xa9", "", "<meta charset=utf-16>café"),
        (b"<meta charset=koi8-r>" + "Уровень".encode("koi8-r"), "text/html; charset=utf-8", None),
        (b"plain", "text/html; charset=no-such-charset", "plain"),
        (b"plain", "text/html; charset=zlib", "plain"),
        (b"", "", ""),
    ],
)
def test_decode(body, content_type, expected):
    text = decode(body, {}, content_type)
    if expected is None:
        assert "水位" in text or "Уровень" in text
        assert "\ufffd" not in text
    else:
        assert text == expected


def test_the_header_is_read_from_the_headers_too():
    assert decode("Уровень".encode("koi8-r"), {"content-type": "text/html; charset=koi8-r"}) == "Уровень"


def test_one_bad_byte_does_not_change_the_encoding():
    body = ("水位在夜间上升，闸门随后打开。" * 50).encode()
    text = decode(body + b"\xff" + body, {}, "")
    assert text.count("\ufffd") == 1
    assert text.count("水位") == 100


def test_an_undeclared_encoding_is_detected():
    body = ("Уровень воды в озере поднялся за ночь на два метра, и шлюз открыли. " * 20).encode("cp1251")
    assert "Уровень воды" in decode(body, {}, "")


@pytest.mark.parametrize(
    "content_type", ["", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=big5"]
)
def test_any_bytes_decode(content_type):
    assert isinstance(decode(bytes(range(256)) * 3, {}, content_type), str)
