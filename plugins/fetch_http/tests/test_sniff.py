"""Content types: the bytes correct the header, and never guess where it may be right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_fetch_http.sniff import sniff

HTML = b"<!doctype html><title>x</title>"
RSS = b'<?xml version="1.0"?><!-- made by hand --><rss version="2.0"></rss>'


@pytest.mark.parametrize(
    ("body", "declared", "expected"),
    [
        (b"%PDF-1.7 ...", "text/html", "application/pdf"),
        (b"\xef\xbb\xbf\n%PDF-1.4", "application/octet-stream", "application/pdf"),
        (HTML, "text/html; charset=koi8-r", "text/html; charset=koi8-r"),
        (HTML, "", "text/html"),
        (HTML, "application/octet-stream", "text/html"),
        (HTML, "application/json; charset=utf-8", "text/html; charset=utf-8"),
        (HTML, "text/plain", "text/plain"),
        (HTML, "application/xhtml+xml", "application/xhtml+xml"),
        (b'<?xml version="1.0"?><html xmlns="x">', "text/xml", "application/xhtml+xml"),
        (b"\xff\xfe" + "<html>".encode("utf-16-le"), "", "text/html"),
        (b"<!-- hello --><div>part</div>", "", "text/html"),
        (RSS, "text/html", "application/rss+xml"),
        (RSS, "application/xml", "application/rss+xml"),
        (RSS, "application/rss+xml; charset=utf-8", "application/rss+xml; charset=utf-8"),
        (b'<feed xmlns="http://www.w3.org/2005/Atom">', "text/xml", "application/atom+xml"),
        (b"<?xml version='1.0'?><data/>", "text/xml", "text/xml"),
        (b"<?xml version='1.0'?><data/>", "text/html", "application/xml"),
        (b'{"a": [1]}', "text/html", "application/json"),
        (b'{"a": [1]}', "application/json", "application/json"),
        (b"{not json", "text/html", "text/html"),
        (b"# Title\n\ntext", "text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        (b"# Title\n\ntext", "", "text/plain"),
        (b"# Title", "text/markdown", "text/markdown"),
        (b"\x00\x01\x02\x03" * 20, "", "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n...", "text/html", "image/png"),
        (b"RIFF1234WEBPVP8 ", "", "image/webp"),
        (b"PK\x03\x04", "application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text"),
        (b"PK\x03\x04", "text/html", "application/zip"),
        (b"just words", "text/html", "text/html"),
        (b"", "text/html", "text/html"),
    ],
)
def test_types(body: bytes, declared: str, expected: str) -> None:
    assert sniff(body, declared) == expected


@given(st.binary(max_size=300), st.sampled_from(["", "text/html", "text/plain", "x/y; charset=q"]))
def test_any_bytes_have_a_type_and_sniffing_again_changes_nothing(body: bytes, declared: str) -> None:
    once = sniff(body, declared)
    assert once and sniff(body, once) == once
