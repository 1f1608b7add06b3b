"""When a page is rendered, which of two readings is taken, and what is told of it."""

from __future__ import annotations

from typing import Any

import pytest

from webfetch_core.api import (
    BadResponse,
    Blocked,
    Document,
    ExtractTraits,
    FetchTraits,
    Page,
    PageError,
    RateLimited,
    Refused,
    TimedOut,
    Unavailable,
    WebfetchError,
)
from webfetch_core.testing import FakeClock, FakePlugin, Hang, ScriptedExtractor, ScriptedFetcher, fake_plugin

URL = "https://a.example/page"
SHELL = (
    "<title>Tarn</title><noscript>Please enable JavaScript.</noscript><div id=root></div>"
    "<script src=/a.js></script>"
)
SHORT = "<title>Tarn</title><h1>Opening hours</h1><p>Daily from nine to five.</p>"
FULL = "The keeper lights the lamp at dusk and puts it out at dawn. " * 12


def browser(answer: Any, **fields: Any) -> tuple[ScriptedFetcher, FakePlugin]:
    fetcher = ScriptedFetcher({URL: answer})
    traits = FetchTraits(renders_js=True)
    return fetcher, fake_plugin("fetch", fetcher, "browser", priority=-10, traits=traits, **fields)


def reader() -> ScriptedExtractor:
    """Reads nothing of a shell but its title, and everything of anything else."""

    def read(page: Page) -> Document | None:
        text = page.body.decode()
        if "id=root" in text:
            return Document(url=page.url, text="Tarn", title="Tarn") if "<title>" in text else None
        return Document(url=page.url, text=text, title="Tarn")

    return ScriptedExtractor(read)


def kind_of(work: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(WebfetchError) as caught:
        work(*args, **options)
    return caught.value.kind


# ---- thin pages ----


def test_a_thin_page_is_rendered_and_the_richer_reading_taken(world: Any) -> None:
    rescue, plugin = browser(FULL)
    one = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin])
    found = one.wf.fetch(URL)
    assert found.text == FULL and "thin" not in found.flags
    (step,) = found.steps
    assert (step.name, step.won) == ("browser", True) and step.words > 100
    assert step.reason == "it asks for JavaScript; rendered, it has more"
    assert one.wf.fetch(URL).text == FULL, "what was rendered is what is cached"
    assert len(rescue.calls) == 1


@pytest.mark.parametrize(("media", "tries"), [("application/pdf", 0), ("text/html", 1)])
def test_a_file_that_cannot_be_read_is_not_rendered(world: Any, media: str, tries: int) -> None:
    """Rendered, it would only be shown, and the reason told would be another one."""
    broken = Page(
        url=URL, final_url=URL, status=200, headers={}, content_type=media, body=b"%PDF-", fetched_by="http"
    )

    def read(page: Page) -> Document | None:
        raise BadResponse("no page of it can be read" if page.body == broken.body else "another reason")

    rescue, plugin = browser(FULL)
    traits = ExtractTraits(content_types=("application/pdf", "text/html"))
    extract = fake_plugin("extract", ScriptedExtractor(read), name="r", traits=traits)
    one = world(pages={URL: broken}, extract=None, plugins=[plugin, extract])
    with pytest.raises(BadResponse, match="no page of it can be read" if tries == 0 else "another"):
        one.wf.fetch(URL)
    assert len(rescue.calls) == tries


def test_a_short_page_is_not_rendered(world: Any) -> None:
    rescue, plugin = browser(FULL)
    found = world(pages={URL: SHORT}, extract=reader(), plugins=[plugin]).wf.fetch(URL)
    assert found.text == SHORT and not found.steps and "thin" not in found.flags
    assert rescue.calls == []


def test_a_page_that_rendering_makes_no_richer_stays_as_it_was(world: Any) -> None:
    _, plugin = browser("Tarn")
    found = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin]).wf.fetch(URL)
    assert found.text == "Tarn" and "thin" not in found.flags
    assert found.steps[-1].won is False and "no more" in found.steps[-1].reason


@pytest.mark.parametrize(
    "error",
    [
        Blocked("a wall"),
        TimedOut("too slow"),
        Unavailable("crashed"),
        Refused("leads inside"),
        PageError("gone", kind="not_found"),
        TypeError("a fault of its own"),
        lambda request: 42,
    ],
)
def test_the_thin_page_is_served_when_rendering_fails(world: Any, error: Any) -> None:
    _, plugin = browser(error)
    found = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin]).wf.fetch(URL)
    assert found.text == "Tarn" and found.flags == ("thin",)
    assert found.steps[-1].reason.startswith("it asks for JavaScript; browser: ")


@pytest.mark.parametrize("error", [TimedOut("too slow"), Unavailable("crashed"), TypeError("its own fault")])
@pytest.mark.parametrize("shell", [SHELL, SHELL.replace("<title>Tarn</title>", "")])
def test_what_was_not_rendered_this_time_is_rendered_the_next(world: Any, error: Any, shell: str) -> None:
    """Neither is the thin page kept as if it were all, nor is its emptiness held against it."""
    answers: list[Any] = [error, FULL]

    def answer(request: Any) -> Any:
        now = answers.pop(0)
        if isinstance(now, Exception):
            raise now
        return now

    _, plugin = browser(answer)
    clock = FakeClock()
    one = world(pages={URL: shell}, extract=reader(), plugins=[plugin], clock=clock)
    if shell is SHELL:
        assert one.wf.fetch(URL).flags == ("thin",)
    else:
        assert kind_of(one.wf.fetch, URL) in ("timeout", "unavailable", "plugin_error")
    clock.advance(90)
    assert one.wf.fetch(URL).text == FULL


@pytest.mark.parametrize("shell", [SHELL, SHELL.replace("<title>Tarn</title>", "")])
def test_what_there_was_no_time_to_render_is_rendered_the_next_time(world: Any, shell: str) -> None:
    rescue, plugin = browser(FULL)
    one = world(pages={URL: shell}, extract=reader(), plugins=[plugin])
    if shell is SHELL:
        assert one.wf.fetch(URL, deadline_s=1.0).flags == ("thin",)
    else:
        assert kind_of(one.wf.fetch, URL, deadline_s=1.0) == "timeout"
    assert rescue.calls == []
    assert one.wf.fetch(URL).text == FULL


def test_without_a_browser_a_thin_page_is_kept(world: Any) -> None:
    one = world(pages={URL: SHELL}, extract=reader())
    assert one.wf.fetch(URL).flags == one.wf.fetch(URL).flags == ("thin",)
    assert one.fetched == [URL]


def test_without_a_browser_the_thin_page_says_what_it_is(world: Any) -> None:
    found = world(pages={URL: SHELL}, extract=reader()).wf.fetch(URL)
    assert found.flags == ("thin",) and found.steps[-1].reason == "it asks for JavaScript"
    empty = SHELL.replace("<title>Tarn</title>", "")
    with pytest.raises(PageError, match=r"it asks for JavaScript.*webfetch-fetch-browser") as caught:
        world(pages={URL: empty}, extract=reader()).wf.fetch(URL)
    assert caught.value.kind == "empty"


def test_a_shell_with_nothing_in_it_is_rendered(world: Any) -> None:
    rescue, plugin = browser(FULL)
    empty = SHELL.replace("<title>Tarn</title>", "")
    assert world(pages={URL: empty}, extract=reader(), plugins=[plugin]).wf.fetch(URL).text == FULL
    assert len(rescue.calls) == 1
    _, plugin = browser(empty)
    assert kind_of(world(pages={URL: empty}, extract=reader(), plugins=[plugin]).wf.fetch, URL) == "empty"


def test_nothing_without_scripts_is_not_rendered(world: Any) -> None:
    rescue, plugin = browser(FULL)
    one = world(pages={URL: "<p></p>"}, extract=ScriptedExtractor(None), plugins=[plugin])
    assert kind_of(one.wf.fetch, URL) == "empty" and rescue.calls == []


def test_fetchers_that_run_no_scripts_are_not_asked_for_a_thin_page(world: Any) -> None:
    other = ScriptedFetcher({URL: FULL})
    rescue, plugin = browser(FULL)
    plain = fake_plugin("fetch", other, "other", priority=-5)
    one = world(pages={URL: SHELL}, extract=reader(), plugins=[plain, plugin])
    assert one.wf.fetch(URL).text == FULL
    assert other.calls == [] and len(rescue.calls) == 1


def test_what_was_rendered_first_is_not_thin_for_its_scripts(world: Any) -> None:
    first, plugin = browser(SHELL)
    plugin = fake_plugin("fetch", first, "browser", priority=10, traits=FetchTraits(renders_js=True))
    one = world(pages={URL: FULL}, extract=reader(), plugins=[plugin])
    found = one.wf.fetch(URL)
    assert found.text == "Tarn" and not found.flags and one.fetched == []


def test_without_time_a_thin_page_is_served_as_it_is(world: Any) -> None:
    rescue, plugin = browser(FULL)
    found = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin]).wf.fetch(URL, deadline_s=1.0)
    assert found.text == "Tarn" and found.flags == ("thin",) and rescue.calls == []
    assert "no time was left" in found.steps[-1].reason


def test_a_browser_that_hangs_leaves_time_for_the_thin_page(world: Any) -> None:
    hang = Hang()
    fetcher = ScriptedFetcher({URL: hang})
    plugin = fake_plugin("fetch", fetcher, "browser", priority=-10, traits=FetchTraits(renders_js=True))
    one = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin])
    found = one.wf.fetch(URL, deadline_s=1.8)
    hang.released.set()
    assert found.text == "Tarn" and found.flags == ("thin",)


def test_in_a_search_a_thin_page_is_rendered_too(world: Any) -> None:
    _, plugin = browser(FULL)
    found = world(pages={URL: SHELL}, extract=reader(), plugins=[plugin]).search("keeper lamp")
    assert any("keeper lights the lamp" in chunk.text for chunk in found.chunks)
    tried = [(a.provider, a.outcome) for a in found.attempts if a.stage == "fetch"]
    assert tried == [("mine", "ok"), ("browser", "ok")]


# ---- walls ----


@pytest.mark.parametrize(
    "error",
    [
        Blocked("403"),
        RateLimited("429"),
        PageError("nothing", kind="empty"),
        BadResponse("x"),
        TypeError("a fault"),
    ],
)
def test_walls_and_faults_are_tried_with_a_browser(world: Any, error: Exception) -> None:
    rescue, plugin = browser(FULL)
    found = world(pages={URL: error}, extract=reader(), plugins=[plugin]).wf.fetch(URL)
    assert found.text == FULL and len(rescue.calls) == 1
    assert found.steps[-1].won and "the fetcher before it" in found.steps[-1].reason


@pytest.mark.parametrize(
    "error",
    [
        RateLimited("429", retry_after_s=30.0),
        PageError("log in", kind="login"),
        PageError("pay", kind="paywall"),
        PageError("agree", kind="consent"),
        PageError("gone", kind="not_found"),
        Refused("inside"),
        Unavailable("down"),
    ],
)
def test_what_a_browser_would_not_change_is_left_alone(world: Any, error: WebfetchError) -> None:
    rescue, plugin = browser(FULL)
    assert kind_of(world(pages={URL: error}, plugins=[plugin]).wf.fetch, URL) == error.kind
    assert rescue.calls == []


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (TimedOut("too slow"), "blocked"),
        (Unavailable("crashed"), "blocked"),
        (RuntimeError("a fault"), "blocked"),
        (Blocked("still"), "blocked"),
        (PageError("gone", kind="not_found"), "not_found"),
        (Refused("leads inside"), "refused"),
        (PageError("log in", kind="login"), "login"),
    ],
)
def test_of_two_failures_the_one_that_says_more_of_the_page_is_told(
    world: Any, then: Exception, told: str
) -> None:
    _, plugin = browser(then)
    assert kind_of(world(pages={URL: Blocked("403")}, plugins=[plugin]).wf.fetch, URL) == told


def test_a_wall_is_not_tried_without_time(world: Any) -> None:
    rescue, plugin = browser(FULL)
    one = world(pages={URL: Blocked("403")}, plugins=[plugin])
    assert kind_of(one.wf.fetch, URL, deadline_s=1.0) == "blocked"
    assert rescue.calls == []
