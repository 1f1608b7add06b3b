"""Who decides what the content is: with models whose opinion is known beforehand."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from attrs import evolve
from webfetch_extract_html.classifier import classify, model
from webfetch_extract_html.classifier.assembly import Leaf, assemble
from webfetch_extract_html.html import HtmlExtractor
from webfetch_extract_html.settings import ExtractHtmlSettings

sys.path.insert(0, str(Path(__file__).parent))
from classifier_pages import ARTICLE, PROSE, THREAD, page


@pytest.fixture
def extractor(tmp_path):
    """Makes extractors whose second stage gives every block the same log-odds."""

    def make(log_odds: float) -> HtmlExtractor:
        loaded = classify.load_model()
        second = assemble([(0, Leaf(log_odds))], loaded.second.columns)
        file = tmp_path / f"{log_odds}.bin"
        file.write_bytes(model.pack(evolve(loaded, second=second)))
        return HtmlExtractor(ExtractHtmlSettings(), model_file=file)

    return make


def steps_of(document):
    return {step.name: step for step in document.steps}


def test_where_the_classifier_finds_nothing_plenty_of_text_is_believed(extractor):
    document = extractor(-5.0).extract(page(ARTICLE))
    assert PROSE.strip() in document.text
    assert "All pages" not in document.text
    assert document.metadata["extracted_by"] == "trafilatura"
    steps = steps_of(document)
    assert (steps["classifier"].won, steps["trafilatura"].won) == (False, True)
    assert "only 0 words" in steps["classifier"].reason
    assert document.page_type == "article"


def test_but_not_a_few_words_that_it_gives_no_chance(extractor):
    html = "<title>Shop</title><div><p>Global sites of the group in other languages and regions.</p></div>"
    found = extractor(-5.0).find(page(html))
    assert found.body == ""
    assert not any(step.won for step in found.steps)
    assert extractor(-1.5).find(page(html)).body != ""


def test_on_articles_what_trafilatura_leaves_out_goes_unless_it_is_certain(extractor):
    doubtful = extractor(0.4).extract(page(ARTICLE))
    assert "All pages" not in doubtful.text
    assert PROSE.strip() in doubtful.text
    assert steps_of(doubtful)["article"].won
    certain = extractor(3.0).extract(page(ARTICLE))
    assert "All pages" in certain.text
    assert not steps_of(certain)["article"].won


def test_elsewhere_trafilatura_is_not_asked(extractor):
    document = extractor(0.4).extract(page(THREAD, "https://t.example/t/pump/12"))
    assert "All forums" in document.text
    assert set(steps_of(document)) == {"classifier", "metadata"}


def test_tables_and_code_of_an_article_stay_whatever_trafilatura_says(extractor):
    table = "<table><tr><th>Harbour</th><th>Height</th></tr><tr><td>Orvane</td><td>4.1 m</td></tr></table>"
    html = ARTICLE.replace("<h2>Readings</h2>", f"<h2>Readings</h2>{table}<pre>gate = 7\nopen(gate)</pre>")
    document = extractor(0.4).extract(page(html))
    assert "| Orvane | 4.1 m |" in document.text
    assert "gate = 7\nopen(gate)" in document.text


@pytest.mark.parametrize(
    ("description", "stands"),
    [
        ("The gauges of the northern shore hold 18 million readings.", True),
        ("Notes from the survey were copied into the ledger the same evening.", False),
        ("The council never asked for the ledger of the dam and its gauges.", False),
        ("Everything about tidal observatories: history, instruments, opening hours.", True),
    ],
)
def test_a_description_stands_before_the_text_where_it_adds_to_it(description, stands):
    html = ARTICLE.replace("</head>", f"<meta name=description content='{description}'></head>")
    document = HtmlExtractor(ExtractHtmlSettings()).extract(page(html))
    assert (f"> {description}" in document.text) is stands
    assert document.metadata["description"] == description
    assert document.text.startswith("# Gauges of the north\n\n")


def test_a_description_in_a_script_without_blanks_is_compared_by_its_runs():
    prose = "潮位計は北岸に置かれ、毎日正午に読み取られて台帳に記されている。" * 12
    for description, stands in (
        ("潮位計は北岸に置かれ、毎日正午に読み取られ", False),
        ("この港の歴史と展望を紹介する記事", True),
    ):
        head = f"<title>港</title><meta name=description content='{description}'>"
        html = f"{head}<article><p>{prose}</p></article>"
        document = HtmlExtractor(ExtractHtmlSettings()).extract(page(html))
        assert (f"> {description}" in document.text) is stands
