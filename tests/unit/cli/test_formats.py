"""``webfetch fetch --format``: the same text in other forms."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.models import Document, ExtractionStep
from webfetch_core.testing import ScriptedExtractor, fake_plugin

pytest.importorskip("markdown_it", reason="needs the extra webfetch-core[formats]")
pytest.importorskip("mdit_py_plugins", reason="needs the extra webfetch-core[formats]")

from webfetch_core.cli.formats import to_html, to_text
from webfetch_core.cli.parts import standing_alone

URL = "https://a.example.org/fusion"
MARKDOWN = """# Tides

> What the sea does.

Twice a day, says [the port](https://port.example/?a=1&b=2), **with** `code`.

1. flood
   of spring
2. ebb
   - slack

     and turn

     ```py
     x = 1
       y
     ```
   - neap

moon
: pulls
: turns

| hour | height |
|---|---|
| 3 \\| 4 | 2.1 m |

```python
def tide():
    pass
```
"""


class Page(HTMLParser):
    """Every tag and attribute of a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_plain_text_has_the_words_in_their_lines() -> None:
    assert to_text(MARKDOWN) == "\n".join(
        [
            "Tides",
            "",
            "What the sea does.",
            "",
            "Twice a day, says the port, with code.",
            "",
            "1. flood",
            "   of spring",
            "2. ebb",
            "  - slack",
            "    and turn",
            "    x = 1",
            "      y",
            "  - neap",
            "",
            "moon",
            "pulls",
            "turns",
            "",
            "hour\theight",
            "3 | 4\t2.1 m",
            "",
            "def tide():",
            "    pass",
        ]
    )


def test_html_keeps_the_structure() -> None:
    html = to_html(MARKDOWN, title="Tides <i>", url=URL, language="ar-EG")
    assert html.startswith('<!doctype html>\n<html lang="ar-EG" dir="rtl">')
    assert "<title>Tides &lt;i&gt;</title>" in html
    for part in (
        "<h1>Tides</h1>",
        '<a href="https://port.example/?a=1&amp;b=2">the port</a>',
        "<td>3 | 4</td>",
        '<pre><code class="language-python">def tide():\n    pass\n</code></pre>',
        "<dt>moon</dt>\n<dd>pulls</dd>",
    ):
        assert part in html


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "![x](https://tracker.example/p.png)",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&colon;alert(1))",
        "[x](vbscript:x) [y](data:text/html;base64,AAAA) [z](file:///etc/passwd)",
        "<javascript:alert(1)>",
        '[x](https://a.example "onmouseover=alert(1) x=\\"")',
        '```"><script>\nx\n```',
        "<!-- --><iframe src=//a.example>",
    ],
)
def test_what_a_page_spells_is_shown_and_not_obeyed(hostile: str) -> None:
    check(to_html(hostile, title=hostile, url=f"https://a.example/{hostile}", language=hostile))


@given(st.text(alphabet="<>[]()!`\"'&:/ \n\t|#-*ajs1%", max_size=80))
def test_no_text_makes_a_tag_that_loads_or_runs(text: str) -> None:
    check(to_html(text, title=text, language=text))
    to_text(text)


def check(html: str) -> None:
    for tag, attributes in Page(html).tags:
        assert tag not in {"script", "img", "iframe", "object", "embed", "form", "style", "base"}
        assert not any(name.startswith("on") for name in attributes)
        address = attributes.get("href") or ""
        assert re.match(r"(?!javascript|vbscript|file|data)", address.strip().lower()), address


@given(st.lists(st.text(alphabet="abcdefgh", min_size=1, max_size=6), min_size=1, max_size=12))
def test_text_keeps_every_word(words: list[str]) -> None:
    marked = "\n\n".join(f"- **{word}** `{word}`" if n % 2 else f"## {word}" for n, word in enumerate(words))
    assert set(re.findall("[a-h]+", to_text(marked))) == set(words)


def test_the_command_writes_each_format(cli: Any) -> None:
    document = Document(url=URL, text=MARKDOWN, title="Tides", metadata={"language": "en"})
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(document), name="plain")
    assert cli("fetch", URL, "--format", "markdown").out == cli("fetch", URL).out
    assert cli("fetch", URL, "--format", "text").out == to_text(MARKDOWN) + "\n"
    html = cli("fetch", URL, "--format", "html").out
    assert '<html lang="en">' in html and "<h1>Tides</h1>" in html
    assert json.loads(cli("fetch", URL, "--format", "json").out) == json.loads(
        cli("fetch", URL, "--json").out
    )


LONG = """# Log

```py
# not a heading
x = 1

y = 2
```

After the code.

| hour | height |
| --- | --- |
| 3 | 2.1 m |
| 9 | 0.4 m |

- ebb
    - slack
    - neap

The end.
"""


@pytest.mark.parametrize(
    ("first", "words", "tag"),
    [
        ("x = 1", "x = 1\n\ny = 2\n\nAfter the code.\n\nhour\theight\n3\t2.1 m\n9\t0.4 m\n\n", "pre"),
        ("# not", "# not a heading\nx = 1\n\ny = 2\n\nAfter", "pre"),
        ("| 9 |", "hour\theight\n9\t0.4 m\n\n- ebb", "table"),
        ("    - neap", "- neap\n\nThe end.", "ul"),
        ("After", "After the code.\n\nhour\theight\n3", "p"),
    ],
)
def test_a_part_means_what_it_means_in_its_place(first: str, words: str, tag: str) -> None:
    part = standing_alone(LONG, LONG.index(first), len(LONG))
    assert to_text(part).startswith(words)
    assert Page(to_html(part).partition("<body>")[2]).tags[0][0] == tag


@pytest.mark.parametrize("marks", ["```", "~~~~", "  ```", "     ```"])
def test_code_in_a_list_is_code_when_it_goes_on(marks: str) -> None:
    pad = " " * (len(marks) - len(marks.lstrip()))
    text = f"1. do\n\n{marks}\n{pad}a\n{pad}  # b\n{marks}\n\nprose"
    part = standing_alone(text, text.index(f"{pad}  # b"), len(text))
    assert to_text(part) == "  # b\n\nprose"


@given(st.text(alphabet="a|-` \n#~", max_size=120), st.integers(0, 119))
def test_a_part_loses_no_word(text: str, start: int) -> None:
    part = standing_alone(text, start, len(text))
    assert [c for c in part if c == "a"][-text[start:].count("a") or len(part) :] == ["a"] * text[
        start:
    ].count("a")


def test_what_is_no_markdown_is_shown_as_it_is(cli: Any) -> None:
    text = '{\n  "a": [\n    "*b*",\n    "<i>"\n  ]\n}'
    document = Document(url=URL, text=text, metadata={"text_format": "plain"})
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(lambda page: document), name="x")
    assert cli("fetch", URL, "--format", "text").out == text + "\n"
    shown = cli("fetch", URL, "--format", "html").out
    assert "<pre>{\n  &quot;a&quot;: [\n    &quot;*b*&quot;,\n    &quot;&lt;i&gt;&quot;\n" in shown


def test_a_part_in_html_is_a_whole_document(cli: Any) -> None:
    document = Document(url=URL, text="word " * 1_000)
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(document), name="plain")
    ran = cli("fetch", URL, "--format", "html", "--max-tokens", "100", "--start", "400")
    assert ran.out.endswith("</html>\n")
    assert "go on with: webfetch fetch" in ran.err


def test_an_error_is_json_where_json_was_asked_for(cli: Any) -> None:
    ran = cli("fetch", "https://nowhere.example.org/", "--format", "json")
    assert json.loads(ran.out)["error"]["kind"] == "not_found"


def test_an_unknown_format_names_those_there_are(cli: Any) -> None:
    ran = cli("fetch", URL, "--format", "pdf")
    assert ran.code == 2
    assert "markdown" in ran.err and "html" in ran.err


def test_a_missing_library_is_told_before_anything_is_fetched(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "markdown_it", None)
    ran = cli("fetch", "https://nowhere.example.org/", "--format", "html")
    assert ran.code == 2
    assert "fix: pip install markdown-it-py mdit-py-plugins" in ran.err


def test_the_parser_is_not_loaded_for_markdown() -> None:
    code = "import sys, webfetch_core.cli.fetch; sys.exit('markdown_it' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_explain_says_which_step_won_and_why(cli: Any) -> None:
    steps = (
        ExtractionStep(name="classifier", words=412, won=True, reason="forum page, 0.93 sure"),
        ExtractionStep(name="trafilatura", words=80, reason="keeps less than half of it"),
    )
    document = Document(url=URL, text="Text.", steps=steps)
    cli.plugins[2] = fake_plugin("extract", ScriptedExtractor(document), name="plain")
    told = cli("fetch", URL, "--explain").err
    assert "how the text was found" in told
    assert re.search(r"classifier +412 +won\n +forum page, 0\.93 sure", told)
    assert re.search(r"trafilatura +80 +-\n +keeps less than half of it", told)
    again = cli("fetch", URL, "--explain").err  # from the page cache: the steps are kept with the page
    assert "page cache" in again and "forum page, 0.93 sure" in again
