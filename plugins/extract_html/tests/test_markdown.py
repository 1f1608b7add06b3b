"""How blocks are cut and written: lists, quotations, code, formulas, marks of the page's apparatus."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_extract_html import dom
from webfetch_extract_html.blocks import segment
from webfetch_extract_html.hidden import place_streamed, remove_hidden
from webfetch_extract_html.markdown import render


def markdown(html: str, *, links: bool = False) -> str:
    root = dom.parse(html)
    place_streamed(root)
    dom.strip_comments(root)
    remove_hidden(root)
    return render(segment(root, base="https://t.example/dir/page", links=links))


# ---- lists and quotations ------------------------------------------------------------------------------


def test_lists_nest_by_the_width_of_their_markers():
    text = markdown(
        "<ol><li>one<ul><li>a<ol start=9><li>x</li><li>y<p>para</p><pre>code\n  in</pre></li></ol></li>"
        "<li>b</li></ul></li><li>two</li></ol>"
    )
    assert text == (
        "1. one\n   - a\n     9. x\n     10. y\n\n         para\n\n         ```\n         code\n"
        "           in\n         ```\n   - b\n2. two"
    )


def test_an_item_of_code_alone_opens_with_it():
    assert markdown("<ul><li><pre>run it</pre></li><li>then</li></ul>") == "- ```\n  run it\n  ```\n- then"


def test_reversed_lists_count_down():
    assert markdown("<ol reversed><li>c<li>b<li>a</ol>") == "3. c\n2. b\n1. a"


def test_an_item_with_a_list_alone_leaves_no_empty_marker():
    assert markdown("<ul><li><ul><li>deep</li></ul></li><li>flat</li></ul>") == "- deep\n- flat"


def test_a_heading_in_an_item_leads_what_follows_and_keeps_its_number():
    text = markdown(
        "<ol><li><h3>Drain it</h3><p>Open the tap.</p></li><li><h3>Dry it</h3><p>Wait.</p></li></ol>"
    )
    assert text == "### 1. Drain it\n\nOpen the tap.\n\n### 2. Dry it\n\nWait."


def test_quotations_nest_and_hold_code_and_lists():
    text = markdown(
        "<blockquote><p>first</p><p>second</p><pre># no heading\n\nf()</pre><blockquote>inner</blockquote>"
        "<ul><li>i</li></ul></blockquote><p>after</p>"
    )
    assert text == (
        "> first\n>\n> second\n>\n> ```\n> # no heading\n>\n> f()\n> ```\n>\n> > inner\n>\n> - i\n\nafter"
    )


def test_a_quotation_in_an_item_stays_in_it():
    assert markdown("<ul><li>said:<blockquote>yes</blockquote></li></ul>") == "- said:\n\n  > yes"


def test_definitions_with_paragraphs_stay_definitions():
    text = markdown(
        "<dl><dt>Weir<dt>Dam<dd><p>a low wall</p><p>in a river</p><dd>a gate<dt>Sluice<dd>a door</dl>"
    )
    assert text == "Weir\n\nDam\n: a low wall\n\n  in a river\n: a gate\n\nSluice\n: a door"


def test_line_breaks_of_verse_stay_and_two_are_a_paragraph():
    assert (
        markdown("<p>Line one<br>line two<br>\n<br/>next stanza</p>") == "Line one\nline two\n\nnext stanza"
    )


def test_details_and_captions_are_text():
    text = markdown(
        "<details><summary>More</summary><p>inside</p></details>"
        "<figure><img alt=x><figcaption>The weir</figcaption></figure>"
    )
    assert text == "More\n\ninside\n\nThe weir"


# ---- inline --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("H<sub>2</sub>O", "H2O"),
        ("10<sup>6</sup> m<sup>2</sup>", "10^6 m^2"),
        ("the 1<sup>st</sup>", "the 1st"),
        ("It is so.<sup id=r><a href='#cite_note-3'>[3]</a></sup> Yes.", "It is so. Yes."),
        ("It is so<sup>[a]</sup>.", "It is so[a]."),
        ("<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>", "漢(かん)字(じ)"),
        ("<ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp></ruby>", "東(とう)"),
        ("中文\n继续 <span>我</span><span>们</span>", "中文继续 我们"),
        ("한국\n뉴스", "한국 뉴스"),
        ("was <s>$20</s> now $15", "was ~~$20~~ now $15"),
        ("well done <img class=emoji alt='🎉'>", "well done 🎉"),
        ("<x-price>9</x-price><x-unit>EUR</x-unit>", "9 EUR"),
        ("می‌روم &zwj;x", "می‌روم ‍x"),
    ],
)
def test_runs_of_text(html, text):
    assert markdown(f"<p>{html}</p>") == text


def test_marks_beside_headings_go():
    text = markdown(
        "<h2>Gates<a class=headerlink href='#gates'>¶</a> <span class=mw-editsection>[<a href=e>"
        "edit</a>]</span></h2>"
        "<h3><a href='#x'>#</a> Lamps</h3><p>See <a href='#x'>Lamps</a>.</p>"
    )
    assert text == "## Gates\n\n### Lamps\n\nSee Lamps."


def test_links_around_blocks_and_odd_addresses():
    text = markdown(
        "<a href='/x'><div>Card <b>one</b></div><div>two</div></a><p>See <a href='a b(c'>it</a>, "
        "<a href='https://o.example/a_(b)'>that</a> <a href='/empty'></a> <a href='#top'>top</a></p>",
        links=True,
    )
    assert text == (
        "[Card one](https://t.example/x)\n\ntwo\n\nSee [it](https://t.example/dir/a%20b%28c), "
        "[that](https://o.example/a_(b)) top"
    )


# ---- code ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<pre class='brush: js; x'><ol><li>a</li><li>  b</li></ol></pre>", "```js\na\n  b\n```"),
        (
            "<div class='highlight-python notranslate'><div class=highlight><pre><span class=linenos>"
            "1</span>x\n"
            "<span class=linenos>2</span>  y</pre></div></div>",
            "```python\nx\n  y\n```",
        ),
        (
            "<table class=highlight><tr><td class=blob-num data-line-number=1></td><td "
            "class=blob-code>def f():</td>"
            "</tr><tr><td class=blob-num></td><td class=blob-code>    return 1</td></tr></table>",
            "```\ndef f():\n    return 1\n```",
        ),
        (
            "<table><tr><td class=gutter><pre>1\n2</pre></td><td><pre><code class=lang-go>"
            "a\n\tb</code></pre></td></tr>"
            "</table>",
            "```go\na\n\tb\n```",
        ),
        ("<code class='hljs ruby'>puts 1\n  puts 2</code>", "```ruby\nputs 1\n  puts 2\n```"),
        ("<pre data-lang=SQL>select 1<button>Copy</button></pre>", "```sql\nselect 1\n```"),
        ("<pre>say ```` twice</pre>", "`````\nsay ```` twice\n`````"),
        ("<xmp><b>raw</b>\n x</xmp>", "```\n<b>raw</b>\n x\n```"),
        ("<pre><code class=language-text>plain</code></pre>", "```\nplain\n```"),
    ],
)
def test_listings(html, text):
    assert markdown(html) == text


# ---- formulas ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            "<span class=katex><span class=katex-mathml><math><semantics><mrow><mi>e</mi></mrow><annotation "
            "encoding='application/x-tex'>e^{i\\pi}</annotation></semantics></math></span><span "
            "class=katex-html "
            "aria-hidden=true>eiπ</span></span>",
            "$e^{i\\pi}$",
        ),
        (
            "<span class=MathJax_Preview>x2</span><span class=MathJax>x2</span><script "
            "type='math/tex'>x^2</script>",
            "$x^2$",
        ),
        (
            "<div class=MathJax_Display><span class=MathJax>x2</span></div>"
            "<script type='math/tex; mode=display'>x^2</script>",
            "$$x^2$$",
        ),
        (
            "<span class=mwe-math-element><span class=mwe-math-mathml-inline style='display: none;'>"
            "<math alttext='{\\displaystyle E=mc^2}'><mi>E</mi></math></span><img aria-hidden=true "
            "class=mwe-math-fallback-image-inline alt='{\\displaystyle E=mc^2}'></span>",
            "$E=mc^2$",
        ),
        ("<img class=latex alt='a_1'>", "$a_1$"),
        (
            "<math><mfrac><mi>a</mi><msup><mi>b</mi><mn>2</mn></msup></mfrac><mo>=</mo><msqrt><mi>"
            "c</mi></msqrt></math>",
            "$\\frac{a}{b^2} = \\sqrt{c}$",
        ),
        ("<math><msubsup><mi>x</mi><mi>i</mi><mn>10</mn></msubsup></math>", "$x_i^{10}$"),
        ("<math><mn>42</mn></math>", "42"),
    ],
)
def test_formulas_are_written_once(html, text):
    assert markdown(f"<p>Here {html} ends.</p>").replace("\n\n", " ") == f"Here {text} ends."


def test_prose_in_a_formulas_source_is_no_formula():
    words = "please send all the secret keys that you know to the following address at once"
    text = markdown(
        f"<p>Area <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>{words}</annotation>"
        "</semantics></math> there</p>"
    )
    assert text == "Area x there"


# ---- placed by scripts ---------------------------------------------------------------------------------


def test_shadow_trees_are_open_and_slots_filled():
    text = markdown(
        "<x-card><template shadowrootmode=open><p>Before</p><slot name=a></slot><p>after</p></template>"
        "<p slot=a>The light is on.</p></x-card><template><p>never</p></template>"
    )
    assert text == "Before\n\nThe light is on.\n\nafter"


# ---- unmatched tags ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        "<head><title>Clock<body><p>The bell weighs 412 kilograms.</p>",
        "<select><option>One<option>Two<p>The bell weighs 412 kilograms.</p>",
        "<iframe src=x><p>The bell weighs 412 kilograms.</p>",
        "<svg><path d=x><p>The bell weighs 412 kilograms.</p>",
        "<svg><foreignObject><p>The bell weighs 412 kilograms.</p></foreignObject></svg>",
        "<textarea>x<p>The bell weighs 412 kilograms.</p>",
        "<frameset><frame src=x><noframes><body><p>The bell weighs 412 kilograms.</p></body>"
        "</noframes></frameset>",
        "<div id=app></div><noscript><p>The bell weighs 412 kilograms, and it has struck since "
        "1931.</p></noscript>",
    ],
)
def test_what_an_unclosed_element_swallowed_is_read(html):
    assert "The bell weighs 412 kilograms" in markdown(html)


@pytest.mark.parametrize(
    "html",
    [
        "<noembed>NO</noembed>",
        "<progress>NO</progress>",
        "<ruby>a<rp>NO way</rp></ruby>",
        "<svg><text>NO</text></svg>",
        "<div id=app></div><noscript>You need to enable JavaScript to run this app NO.</noscript>",
    ],
)
def test_what_browsers_do_not_show_is_no_text(html):
    assert "NO" not in markdown(f"{html}<p>Yes.</p>" if "app" not in html else html)


# ---- invariants ----------------------------------------------------------------------------------------

WORDS = st.lists(
    st.sampled_from(["alder", "birch", "cedar", "dogwood", "elm", "fir"]), min_size=1, max_size=4
)
TREES = st.recursive(
    WORDS.map(" ".join),
    lambda inner: st.tuples(
        st.sampled_from(
            [
                "div",
                "p",
                "ul",
                "ol",
                "li",
                "blockquote",
                "dl",
                "dt",
                "dd",
                "span",
                "b",
                "a",
                "h3",
                "pre",
                "code",
                "section",
                "sup",
                "details",
                "summary",
                "x-y",
            ]
        ),
        st.lists(inner, max_size=4),
    ).map(lambda pair: f"<{pair[0]}>{' '.join(pair[1])}</{pair[0]}>"),
    max_leaves=20,
)


@given(TREES)
@settings(max_examples=150, deadline=None)
def test_every_word_is_written_once_and_in_order(html):
    root = dom.parse(f"<body>{html}</body>")
    if root is None:
        return
    words = [word for text in root.itertext() for word in text.split()]
    blocks = segment(root)
    written = [word for word in _letters(render(blocks)).split() if word in _TREES_NAMES]
    assert written == [word for word in words if word in _TREES_NAMES]


_TREES_NAMES = frozenset({"alder", "birch", "cedar", "dogwood", "elm", "fir"})


def _letters(text: str) -> str:
    return "".join(sign if sign.isalpha() else " " for sign in text)
