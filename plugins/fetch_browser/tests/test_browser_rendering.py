"""Pages in a real Chromium: what is read, when, and what is left out."""

from __future__ import annotations

import time
from typing import Any

import pytest

from webfetch_core.api import FetchRequest, Page, RateLimited, WebfetchError
from webfetch_core.testing import LoopbackSite
from webfetch_core.testing.site import Received, Reply


def render(fetcher: Any, url: str, within_s: float = 20.0) -> Page:
    return fetcher.fetch(FetchRequest(url=url, deadline=time.monotonic() + within_s, purpose="user"))


def kind_of(work: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(WebfetchError) as caught:
        work(*arguments, **options)
    return caught.value.kind


def test_a_page_that_scripts_build_is_read_when_it_is_built(browser: Any, site: LoopbackSite) -> None:
    """It polls for ever, so its network never falls silent."""
    site.add(
        "/board",
        "<!doctype html><title>Board</title><main id=m></main><script>setInterval(()=>fetch('/ping'),200);"
        "setTimeout(()=>{m.innerHTML='<h1>Departures</h1><p>Ferry 7 leaves at 19:20.</p>'},400)</script>",
    )
    page = render(browser, site.url("/board"))
    assert "Ferry 7 leaves at 19:20." in page.body.decode()
    assert page.content_type == "text/html; charset=utf-8" and page.fetched_by == "browser"
    assert (page.url, page.final_url, page.status) == (site.url("/board"), site.url("/board"), 200)
    assert "<script" not in page.body.decode()


def test_data_that_comes_late_is_waited_for(browser: Any, site: LoopbackSite) -> None:
    site.add(
        "/late",
        "<p id=p>Loading...</p><script>fetch('/data').then(r=>r.text()).then(t=>p.textContent=t)</script>",
    )
    site.add("/data", "The tide turns at noon.", delay_s=1.5)
    assert b"The tide turns at noon." in render(browser, site.url("/late")).body


def test_a_script_that_never_arrives_does_not_hold_the_page_up(browser: Any, site: LoopbackSite) -> None:
    site.add(
        "/held",
        f"<title>t</title><p>{'The keeper lights the lamp. ' * 20}</p><script src=/hang></script><p>after",
    )
    site.add("/hang", hang=True)
    page = render(browser, site.url("/held"), within_s=12)
    assert b"The keeper lights the lamp." in page.body


def test_what_a_reader_sees_is_one_document(browser: Any, site: LoopbackSite) -> None:
    site.add("/frame", "<p>Text of the frame.</p>")
    site.add(
        "/parts",
        """<!doctype html><meta charset="iso-8859-1"><title>Teile</title>
        <script type="application/ld+json">{"@type": "Thing"}</script><!-- a remark -->
        <noscript>Enable JavaScript.</noscript><template><p>unused</p></template>
        <my-card><b slot="name">Slotted</b>Unslotted</my-card>
        <iframe src="/frame" width="300" height="200"></iframe>
        <div id="style"></div><a href="papers/tide.pdf">Tide tables</a><p>H\u00f6he 41 m</p>
        <script>
          customElements.define('my-card', class extends HTMLElement {
            constructor() { super(); this.attachShadow({mode: 'open'}).innerHTML =
              '<section>Shadow: <slot name="name">nobody</slot>, <slot></slot>, ' +
              '<slot name="x">fallback</slot></section>'; }
          });
          const s = document.createElement('style'); document.head.append(s);
          s.sheet.insertRule('.gone { display: none }');
        </script>""".encode("latin-1"),
        headers={"Content-Type": "text/html; charset=iso-8859-1"},
    )
    html = render(browser, site.url("/parts")).body.decode()
    shadow = html[html.index("<section>") : html.index("</section>")]
    assert (
        shadow.index("Shadow:")
        < shadow.index("Slotted")
        < shadow.index("Unslotted")
        < shadow.index("fallback")
    )
    assert "nobody" not in html
    for kept in (
        "Text of the frame.",
        "application/ld+json",
        ".gone",
        'href="papers/tide.pdf"',
        "H\u00f6he 41 m",
    ):
        assert kept in html
    for dropped in ("customElements", "a remark", "Enable JavaScript", "unused", "iso-8859-1"):
        assert dropped not in html


def test_pages_cannot_lie_to_our_scripts(browser: Any, site: LoopbackSite) -> None:
    """Old libraries put their own into Array and Object; hostile pages do worse."""
    site.add(
        "/liar",
        "<p>The true text of this page, which is what is on the screen.</p><script>"
        "Array.prototype.toJSON = () => 'x'; Object.prototype.toJSON = () => 'y'; Array.from = null;"
        "Object.defineProperty(document, 'body', {get: () => null}); Node.prototype.cloneNode = null;"
        "document.createDocumentFragment = null; String.prototype.replace = () => 'z';</script>",
    )
    assert b"The true text of this page" in render(browser, site.url("/liar")).body


def test_pages_know_nothing_of_each_other(browser: Any, site: LoopbackSite) -> None:
    site.add(
        "/cookie",
        "<p id=p></p><script>p.textContent='before: ['+document.cookie+'] '+localStorage.length;"
        "document.cookie='a=1';localStorage.x=1</script>",
    )
    for _ in range(2):
        assert b"before: [] 0" in render(browser, site.url("/cookie")).body


def test_assets_are_not_loaded_and_sheets_are_empty(browser: Any, site: LoopbackSite) -> None:
    seen = len(site.requests)
    site.add(
        "/assets",
        "<link rel=stylesheet href=/sheet.css onload=\"d.textContent='sheet there'\" "
        "onerror=\"d.textContent='failed'\">"
        "<p id=d>waiting</p><img src=/i.png><video src=/v.mp4></video>"
        "<style>@font-face{font-family:f;src:url(/f.woff2)} p{font-family:f}</style><p>Text</p>",
    )
    assert b"sheet there" in render(browser, site.url("/assets")).body
    asked = {request.path for request in site.requests[seen:]}
    assert not asked & {"/sheet.css", "/i.png", "/v.mp4", "/f.woff2"}


# ---- addresses ----


def test_redirects_of_all_kinds_are_followed_and_the_last_address_kept(
    browser: Any, site: LoopbackSite
) -> None:
    site.redirect("/1", "/2").add("/2", "<meta http-equiv=refresh content='0;url=/3'>")
    site.add("/3", "<script>location.replace('/4')</script>")
    site.add("/4", "<p>There at last.</p><script>history.pushState({}, '', '/5?x=1#y')</script>")
    page = render(browser, site.url("/1"))
    assert b"There at last." in page.body
    assert page.final_url == site.url("/5?x=1") and page.redirects >= 3


def test_a_page_that_goes_on_for_ever_is_left(browser: Any, site: LoopbackSite) -> None:
    site.add("/round", "<script>setTimeout(()=>location.href='/round?'+Math.random(), 10)</script>")
    assert kind_of(render, browser, site.url("/round"), within_s=10) in ("timeout", "empty")
    site.redirect("/circle", "/circle")
    assert kind_of(render, browser, site.url("/circle")) == "redirect_loop"


# ---- what is no content ----


@pytest.mark.parametrize(
    ("status", "kind"),
    [(401, "login"), (402, "paywall"), (403, "blocked"), (404, "not_found"), (410, "not_found"),
     (429, "rate_limited"), (451, "blocked"), (500, "unavailable"), (503, "unavailable")],
)  # fmt: skip
def test_error_statuses_are_not_content(browser: Any, site: LoopbackSite, status: int, kind: str) -> None:
    site.add("/e", f"<h1>Sorry</h1><p>{'policy ' * 400}</p>", status=status)
    with pytest.raises(WebfetchError) as caught:
        render(browser, site.url("/e"))
    assert caught.value.kind == kind and "policy" not in str(caught.value)


def test_rate_limits_carry_the_wait(browser: Any, site: LoopbackSite) -> None:
    site.add("/l", "slow down", status=429, headers={"Retry-After": "9"})
    with pytest.raises(RateLimited) as caught:
        render(browser, site.url("/l"))
    assert caught.value.retry_after_s == 9.0


@pytest.mark.parametrize("body", ["", "<html><body></body></html>", "<script>1</script>"])
def test_nothing_to_read_is_empty(browser: Any, site: LoopbackSite, body: str) -> None:
    site.add("/nothing", body)
    assert kind_of(render, browser, site.url("/nothing")) == "empty"


def test_a_wall_that_stays_is_a_block(browser: Any, site: LoopbackSite) -> None:
    site.add(
        "/wall", "<title>Just a moment...</title><p>Checking your browser before you go on.</p>", status=200
    )
    assert kind_of(render, browser, site.url("/wall"), within_s=4) == "blocked"


def test_a_challenge_that_solves_itself_gives_way(browser: Any, site: LoopbackSite) -> None:
    def guarded(request: Received) -> Reply:
        if "passed=1" in request.headers.get("cookie", ""):
            return Reply(body=f"<title>Tarn</title><p>{'The lighthouse is 41 m high. ' * 20}</p>".encode())
        wall = (
            "<title>Just a moment...</title><p>Checking your browser.</p>"
            "<script>setTimeout(()=>{document.cookie='passed=1';location.reload()}, 1500)</script>"
        )
        return Reply(status=403, headers={"cf-mitigated": "challenge"}, body=wall.encode())

    site.add("/challenge", guarded)
    page = render(browser, site.url("/challenge"))
    assert b"The lighthouse is 41 m high." in page.body and page.status == 200


def test_documents_that_are_no_html_come_as_they_are(browser: Any, site: LoopbackSite) -> None:
    site.add("/d.json", '{"tide": "high"}', headers={"Content-Type": "application/json"})
    page = render(browser, site.url("/d.json"))
    assert (page.body, page.content_type) == (b'{"tide": "high"}', "application/json")
    site.add("/d.txt", "plain <b>text", headers={"Content-Type": "text/plain; charset=utf-8"})
    assert render(browser, site.url("/d.txt")).body == b"plain <b>text"


def test_documents_that_the_browser_shows_in_a_page_of_its_own_come_as_they_are(
    browser: Any, site: LoopbackSite
) -> None:
    pdf = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n" + bytes(range(256)) * 40 + b"\n%%EOF"
    asked: list[str] = []

    def document(request: Received) -> Reply:
        asked.append(request.headers.get("cookie", ""))
        return Reply(body=pdf, headers={"Content-Type": "application/pdf"})

    site.add("/d.pdf", document)
    site.redirect("/to-pdf", "/d.pdf", headers={"Set-Cookie": "pass=1"})
    for path in ("/d.pdf", "/to-pdf"):
        page = render(browser, site.url(path))
        assert (page.body, page.content_type) == (pdf, "application/pdf")
        assert page.final_url == site.url("/d.pdf")
    assert asked[-1] == "pass=1"
    site.add("/large.pdf", pdf + bytes(9_000_000), headers={"Content-Type": "application/pdf"})
    assert kind_of(render, browser, site.url("/large.pdf")) == "too_large"


@pytest.mark.parametrize("onward", ["/file.zip", "/to-file", "/nothing-new"])
def test_a_page_that_starts_a_download_is_still_a_page(browser: Any, site: LoopbackSite, onward: str) -> None:
    site.add("/file.zip", b"PK\x03\x04", headers={"Content-Type": "application/zip"})
    site.redirect("/to-file", "/file.zip")
    site.add("/nothing-new", status=204)
    site.add(
        "/starts",
        f"<p>The keeper lights the lamp at dusk.</p>"
        f"<script>setTimeout(() => {{ location.href = '{onward}' }}, 50)</script>",
    )
    page = render(browser, site.url("/starts"))
    assert "lights the lamp" in page.body.decode() and page.status == 200


def test_a_reply_without_a_page_is_empty(browser: Any, site: LoopbackSite) -> None:
    site.add("/no-content", status=204)
    assert kind_of(render, browser, site.url("/no-content")) == "empty"


def test_a_password_that_is_asked_for_is_a_login(browser: Any, site: LoopbackSite) -> None:
    site.add("/members", "<p>no</p>", status=401, headers={"WWW-Authenticate": 'Basic realm="m"'})
    assert kind_of(render, browser, site.url("/members")) == "login"


@pytest.mark.parametrize(
    "headers",
    [{"Content-Type": "application/zip"}, {"Content-Disposition": "attachment; filename=x.html"}],
)
def test_files_are_no_pages(browser: Any, site: LoopbackSite, headers: dict[str, str]) -> None:
    site.add("/file", b"PK\x03\x04", headers=headers)
    assert kind_of(render, browser, site.url("/file")) == "unsupported_type"


def test_sizes_are_bounded(make: Any, site: LoopbackSite) -> None:
    small = make(max_bytes=20_000, max_load_bytes=300_000)
    site.add("/big", f"<p>{'x' * 30_000}</p>")
    assert kind_of(render, small, site.url("/big")) == "too_large"
    site.add("/huge", f"<p>text</p>{'<!-- -->' * 100_000}")
    assert kind_of(render, small, site.url("/huge")) == "too_large"
    site.add(
        "/grown",
        "<p>text</p><script>for (let i = 0; i < 3000; i++) document.body.append('more and more ')</script>",
    )
    assert kind_of(render, small, site.url("/grown")) == "too_large"
    small.close()


def test_dialogs_and_windows_are_in_nobodys_way(browser: Any, site: LoopbackSite) -> None:
    site.add(
        "/dialogs",
        "<script>alert(1); confirm(2); prompt(3); window.open('/other'); window.open('/other2');"
        "onbeforeunload = () => 'stay'; print()</script><p>Still here to be read.</p>",
    )
    seen = len(site.requests)
    assert b"Still here to be read." in render(browser, site.url("/dialogs")).body
    assert "/other" not in [request.path for request in site.requests[seen:]]


def test_nothing_is_begun_without_time(browser: Any, site: LoopbackSite) -> None:
    seen = len(site.requests)
    assert kind_of(render, browser, site.url("/board"), within_s=0.1) == "timeout"
    assert len(site.requests) == seen


def test_the_agent_string_is_that_of_a_browser_with_a_window(
    browser: Any, site: LoopbackSite, make: Any
) -> None:
    site.add("/agent", lambda request: Reply(body=f"<p>{request.headers['user-agent']}</p>".encode()))
    shown = render(browser, site.url("/agent")).body.decode()
    assert "Chrome/" in shown and "Headless" not in shown
    named = make(user_agent="Reader/1.0 (+mailto:ops@t.example)")
    assert b"Reader/1.0" in render(named, site.url("/agent")).body
    named.close()
