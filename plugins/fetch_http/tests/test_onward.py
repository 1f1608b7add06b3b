"""Redirects that pages make themselves."""

from __future__ import annotations

import pytest
from webfetch_fetch_http.onward import onward
from webfetch_fetch_http.outline import outline

URL = "https://go.example/a/r?u=1"
PROSE = "<p>" + "The field team walked the northern shore twice and wrote down every reading. " * 12 + "</p>"


def leads(html: str, header: str = "") -> str | None:
    return onward(outline(html.encode()), URL, header)


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ("<meta http-equiv=refresh content='0;url=/b'>", "https://go.example/b"),
        (
            "<META HTTP-EQUIV='Refresh' CONTENT=\"0; URL='https://quill.example/p7'\">",
            "https://quill.example/p7",
        ),
        (
            '<noscript><meta http-equiv="refresh" content="3, https://q.example/"></noscript>',
            "https://q.example/",
        ),
        ("<meta content='0;url=b?x=1&amp;y=2' http-equiv='refresh'>", "https://go.example/a/b?x=1&y=2"),
        ("<meta http-equiv=refresh content='5; b c'>", "https://go.example/a/b%20c"),
        (f"{PROSE}<meta http-equiv=refresh content='0;url=/b'>", "https://go.example/b"),
        ("<meta http-equiv=refresh content='0;url=/a/r?u=1'>", URL),
        ("<script>location.href = '/b';</script>", "https://go.example/b"),
        ('<script>window.location="/b"</script>', "https://go.example/b"),
        ("<script>top.location.replace('https:\\/\\/q.example\\/x')</script>", "https://q.example/x"),
        ('<script>var t="https://q.example/p7";location.replace(t)</script>', "https://q.example/p7"),
        ("<script>window.onload=function(){document.location.assign('/b')}</script>", "https://go.example/b"),
        # and those that do not lead on
        ("<meta http-equiv=refresh content='30;url=/b'>", None),
        ("<meta http-equiv=refresh content='0'>", None),
        ("<meta http-equiv=refresh content=';url=/b'>", None),
        ("<meta name=description content='0;url=/b'>", None),
        ("<!-- <meta http-equiv=refresh content='0;url=/b'> -->", None),
        ("<script>'<meta http-equiv=refresh content=\"0;url=/b\">'</script>", None),
        (f"{PROSE}<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>", None),
        (f"{PROSE}<meta http-equiv=refresh content='1;url=/a/r?u=1#top'>", None),
        (f"{PROSE}<script>location.href='/b'</script>", None),
        ("<script>if (!token) location.href = '/login'</script>", None),
        ("<script>token || (location.href='/login')</script>", None),
        ("<script>if (location.href == '/b') go()</script>", None),
        ("<script>location.href='/b'; location.href='/c'</script>", None),
        ("<script>myLocation='/b'; x.location='/c'</script>", None),
        ("<script>location.href = base + '/b'</script>", None),
        ("<script>location.replace(t)</script>", None),
        ("<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", None),
        ("<meta http-equiv=refresh content='0;url=http://[::1'>", None),
        ("<script>location='intent://x#Intent;end'</script>", None),
    ],
)
def test_where_a_page_leads(html: str, target: str | None) -> None:
    assert leads(html) == target


def test_the_header_counts_as_a_meta_refresh() -> None:
    assert leads("<p>wait</p>", "0; url=/b") == "https://go.example/b"
    assert leads("<p>wait</p>", "60; url=/b") is None
