from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from webfetch_extract_html.classifier import classify, cut, features, model
from webfetch_extract_html.classifier.layout import lay_out
from webfetch_extract_html.classifier.vocabulary import (
    CATEGORIES,
    PHRASES,
    category_bit,
    names_of,
    phrases_in,
)
from webfetch_extract_html.classifier.words import evidence
from webfetch_extract_html.content import MODEL_FILE
from webfetch_extract_html.html import HtmlExtractor, open_page
from webfetch_extract_html.settings import ExtractHtmlSettings

sys.path.insert(0, str(Path(__file__).parent))
from classifier_pages import ARTICLE, PROSE, THREAD, page

SETTINGS = ExtractHtmlSettings()


def inputs_of(html: str, url: str = "") -> classify.Inputs:
    view = open_page(page(html), SETTINGS).view
    return classify.read_page(view.root, view.blocks, url=url, kinds=view.kinds, title=view.title)


def laid_out(html: str):
    prepared = open_page(page(html), SETTINGS).prepared
    return prepared.blocks, lay_out(prepared.root, prepared.blocks)


# ---- words -----------------------------------------------------------------------------------------------


def test_names_are_split_where_authors_join_words():
    bits, words = names_of("siteHeader nav-bar__item js-2 x")
    assert words == ("site", "header", "nav", "bar", "item", "js")
    for name in ("header", "navigation", "product"):
        assert bits & category_bit(name)
    assert names_of("breadcrumbTrail")[0] & category_bit("breadcrumb")
    assert names_of("zq")[0] == 0


def test_a_flood_of_names_is_cut():
    assert len(names_of(" ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(600)))[1]) <= 40


def test_phrases_are_found_as_words_and_pairs():
    def kinds(text: str) -> set[str]:
        bits = phrases_in(text.split())
        return {name for bit, name in enumerate(PHRASES) if bits >> bit & 1}

    assert "buy" in kinds("please add to cart now")
    assert "buy" not in kinds("add the salt")
    assert "consent" in kinds("this site uses cookies")
    assert kinds("gauge readings") == set()


# ---- layout ----------------------------------------------------------------------------------------------


def test_elements_span_their_blocks_and_inherit_what_is_above():
    blocks, layout = laid_out(
        "<body><nav id=menu><p>One two</p><p>Three</p></nav>before<section class='product-list'>"
        "<div><p>Four <b class=price>9</b></p></div></section>after"
    )
    texts = [block.text for block in blocks]
    spans = {layout.tags[e]: texts[layout.first[e] : layout.last[e]] for e in range(len(layout.tags))}
    assert spans["nav"] == ["One two", "Three"]
    assert spans["section"] == ["Four 9"]
    assert spans["body"] == texts == ["One two", "Three", "before", "Four 9", "after"]
    four = layout.element_of[3]
    product = CATEGORIES.index("product")
    assert layout.depth[four] - layout.nearest[layout.row[four], product] == 2
    assert layout.inline[four] & category_bit("price")
    assert layout.nearest[layout.row[layout.element_of[0]], product] < 0


def test_names_reach_from_the_block_upwards_and_headings_downwards():
    blocks, layout = laid_out("<div class=deal><h2>Big Sale</h2><p class=note>Short words</p></div>")
    heading, note = evidence(blocks, layout)
    assert set(note[0]) >= {"c:note", "c:deal"}
    assert list(note[1]) == ["w:short", "w:words"]
    assert list(note[2]) == ["h:big", "h:sale"] == list(heading[2])


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(["<div class=a>", "</div>", "<p>word and word", "<nav>", "</nav>", "<li>x y"]),
        max_size=60,
    )
)
def test_any_tree_is_measured_in_finite_numbers(parts):
    opened = open_page(page("<body>start here" + "".join(parts)), SETTINGS)
    view = opened.view
    inputs = classify.read_page(view.root, view.blocks)
    assert inputs.matrix.shape == (len(view.blocks), len(inputs.columns))
    assert np.isfinite(inputs.matrix).all()
    assert np.isfinite(inputs.page).all()


def test_what_is_measured_has_the_same_names_on_every_page():
    first, second = (
        inputs_of(ARTICLE, "https://t.example/2020/a-b-c.html?x=1"),
        inputs_of("<p>Three short words"),
    )
    assert first.columns == second.columns
    assert first.page_columns == second.page_columns
    assert len(set(first.columns)) == len(first.columns)


def test_places_and_neighbours_are_right():
    inputs = inputs_of(ARTICLE)
    column = {name: inputs.matrix[:, number] for number, name in enumerate(inputs.columns)}
    texts = [b.text for b in open_page(page(ARTICLE), SETTINGS).prepared.blocks]
    home, prose = texts.index("Home"), next(n for n, text in enumerate(texts) if "northern" in text)
    assert column["link_share"][home] == 1
    assert column["in_nav"][home] == 1
    assert column["in_article"][prose] == 1
    assert column["in_nav"][prose] == 0
    assert column["words+1"][prose] == pytest.approx(column["words"][prose - 1])
    assert column["words-1"][prose] == pytest.approx(column["words"][prose + 1])
    assert column["from_long"][prose] == column["to_long"][prose] == 0
    assert column["in_title"][texts.index("Gauges of the north")] == 1


def test_repeats_are_counted_among_siblings_of_one_kind():
    _, layout = laid_out(THREAD)
    repeats = features.sibling_repeats(layout)
    posts = [n for n, names in enumerate(layout.names) if "post" in names]
    assert [repeats[n] for n in posts] == [6.0] * 6


# ---- cut -------------------------------------------------------------------------------------------------

chances = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 400)), min_size=1, max_size=12)


@settings(deadline=None)
@given(chances)
def test_the_threshold_is_that_of_the_best_prefix(blocks):
    p, words = np.array([b[0] for b in blocks]), np.array([float(b[1]) for b in blocks])
    threshold, expected = cut.best_prefix(p, words)
    weight = words + 0.01

    def value(at: float) -> float:
        return 2 * (p * weight)[p >= at].sum() / max(weight[p >= at].sum() + (p * weight).sum(), 1e-9)

    assert (
        expected == pytest.approx(max(value(at) for at in p), abs=1e-6) or expected >= value(threshold) - 1e-6
    )
    assert 0 <= expected <= 1 + 1e-9


@settings(deadline=None)
@given(chances)
def test_sure_blocks_are_kept_and_unlikely_ones_not(blocks):
    p, words = np.array([b[0] for b in blocks]), np.array([float(b[1]) for b in blocks])
    kept = cut.keep(p, words)
    assert kept[p >= cut.HIGHEST].all()
    assert not kept[p < cut.LOWEST].any()


def test_nothing_likely_keeps_nothing():
    assert not cut.keep(np.array([0.1, 0.05]), np.array([50.0, 9.0])).any()


# ---- the file --------------------------------------------------------------------------------------------


def test_the_shipped_model_is_small_whole_and_fits_the_features():
    data = MODEL_FILE.read_bytes()
    assert len(data) <= 500_000
    loaded = model.unpack(data)
    assert loaded.columns == inputs_of(ARTICLE).columns
    assert loaded.page_columns == inputs_of(ARTICLE).page_columns
    assert len(loaded.types) == 7


def test_packing_again_gives_the_same_bytes():
    data = MODEL_FILE.read_bytes()
    assert model.pack(model.unpack(data)) == data


@pytest.mark.parametrize("place", [0, 7, 8, 39, 40, 41, 1_000, -1])
def test_a_changed_byte_anywhere_is_noticed(place):
    data = bytearray(MODEL_FILE.read_bytes())
    data[place] ^= 1
    with pytest.raises(model.ModelError):
        model.unpack(bytes(data))


@pytest.mark.parametrize("length", [0, 8, 40, 500])
def test_a_cut_file_is_noticed(length):
    with pytest.raises(model.ModelError):
        model.unpack(MODEL_FILE.read_bytes()[:length])


def test_parts_that_do_not_fit_are_noticed():
    loaded = model.unpack(MODEL_FILE.read_bytes())
    with pytest.raises(model.ModelError, match="columns"):
        model.unpack(model.pack(evolve(loaded, columns=loaded.columns[:-1])))
    broken = evolve(loaded.first, roots=loaded.first.roots + np.int32(10**6))
    with pytest.raises(model.ModelError, match="first"):
        model.unpack(model.pack(evolve(loaded, first=broken)))


def test_a_model_of_other_features_is_refused_by_name():
    loaded = model.unpack(MODEL_FILE.read_bytes())
    other = evolve(loaded, columns=("shoe_size", *loaded.columns[1:]))
    with pytest.raises(model.ModelError, match="shoe_size"):
        classify.judge(other, inputs_of(ARTICLE))


# ---- at work ---------------------------------------------------------------------------------------------


def test_pages_are_told_apart_and_content_from_trimmings():
    loaded = classify.load_model()
    article = classify.judge(loaded, inputs_of(ARTICLE))
    thread = classify.judge(loaded, inputs_of(THREAD, "https://t.example/t/pump-does-not-start/12"))
    assert article.page_type == "article"
    assert thread.page_type == "forum"
    assert sum(article.types.values()) == pytest.approx(1)
    texts = [block.text for block in open_page(page(ARTICLE), SETTINGS).prepared.blocks]
    chance = dict(zip(texts, article.probability.tolist(), strict=True))
    assert chance[PROSE.strip()] > 0.8
    assert chance["Home"] < 0.2


def test_the_same_page_gives_the_same_numbers_in_every_thread():
    inputs = inputs_of(ARTICLE)
    wanted = classify.judge(classify.load_model(), inputs).probability
    barrier = threading.Barrier(8)

    def run(_: int) -> np.ndarray:
        barrier.wait()
        return classify.judge(classify.load_model(), inputs_of(ARTICLE)).probability

    with ThreadPoolExecutor(8) as pool:
        assert all((each == wanted).all() for each in pool.map(run, range(8)))


def test_a_document_has_its_type_and_how_it_was_found():
    document = HtmlExtractor(SETTINGS).extract(page(ARTICLE))
    assert document.page_type == "article"
    assert 0.3 < float(document.metadata["page_type_confidence"]) <= 1
    assert "All pages" not in document.text
    assert "1. " not in document.text
    assert "- Low water at the pier\n- High water at the lock" in document.text
    steps = {step.name: step for step in document.steps}
    assert steps["classifier"].won
    assert steps["classifier"].words > 100
    assert "article page" in steps["classifier"].reason
    assert "article" in steps
    assert all(step.reason for step in document.steps)


def test_posts_of_a_thread_are_kept_and_what_is_around_them_not():
    document = HtmlExtractor(SETTINGS).extract(page(THREAD, "https://t.example/t/pump/12"))
    assert document.page_type == "forum"
    assert all(f"Answer number {n}" in document.text for n in range(6))
    assert not any(each in document.text for each in ("All forums", "Log in", "rights reserved"))


@pytest.mark.parametrize("fault", ["missing", "damaged", "other", "folder"])
def test_without_its_model_the_other_steps_serve_and_say_why(tmp_path, fault):
    file = tmp_path / "model.bin"
    if fault == "damaged":
        file.write_bytes(MODEL_FILE.read_bytes()[:-9])
    elif fault == "other":
        file.write_bytes(b"something else entirely")
    elif fault == "folder":
        file.mkdir()
    document = HtmlExtractor(SETTINGS, model_file=file).extract(page(ARTICLE))
    assert PROSE[:60] in document.text
    assert "All pages" not in document.text
    assert document.page_type == ""
    assert "page_type_confidence" not in document.metadata
    first = document.steps[0]
    assert (first.name, first.won) == ("classifier", False)
    assert "model cannot be used" in first.reason
    assert any(step.won for step in document.steps[1:])


def test_too_many_blocks_are_left_to_the_other_steps():
    rows = "".join(f"<p>Row {n} of the register</p>" for n in range(classify.MAX_BLOCKS + 10))
    document = HtmlExtractor(SETTINGS).extract(page(f"<title>Register</title><main>{rows}</main>"))
    assert "Row 7777 of the register" in document.text
    assert "more than" in document.steps[0].reason


def test_the_winner_of_the_steps_is_the_one_that_extracted():
    for html in (ARTICLE, THREAD, "<p>Three short words", f"<div>{PROSE}</div>"):
        document = HtmlExtractor(SETTINGS).extract(page(html))
        winners = [step.name for step in document.steps if step.won]
        assert document.metadata["extracted_by"] in winners


def test_numpy_is_not_loaded_before_a_page_is_read():
    code = (
        "import sys, webfetch_extract_html.plugin as p; p.build_html(None, None);"
        "assert 'numpy' not in sys.modules, 'numpy'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_blocks_follow_one_another_in_the_layout():
    blocks, layout = laid_out(ARTICLE)
    assert len(layout.element_of) == len(blocks)
    assert all(layout.first[e] <= n < layout.last[e] for n, e in enumerate(layout.element_of))
    assert all(above < here for here, above in enumerate(layout.parent))
    assert all(a != b for a, b in pairwise(block.text for block in blocks))
