from __future__ import annotations

import pytest
from webfetch_compress_sentences.compressor import SentenceCompressor
from webfetch_compress_sentences.leads import leads_in

from webfetch_core.api import Chunk

COMPRESSOR = SentenceCompressor()
FILLER = (
    "The field team walked the northern shore twice before noon and wrote down every reading. "
    "Notes were copied into the ledger the same evening. Two of the older gauges drifted."
)


def kept(text: str, budget: int, title: str = "") -> str:
    [chunk] = COMPRESSOR.compress("orvane sluice width", [Chunk(text=text, url="u", title=title)], budget)
    return chunk.text


@pytest.mark.parametrize(
    "text",
    [
        "**How do I do without it?**",
        "__Note.__",
        "**Note**:",
        "- **Why?**",
        "Q: Is it deep?",
        "深い？",
        "> Is it?",
    ],
)
def test_what_leads_in(text: str) -> None:
    assert leads_in(text)


@pytest.mark.parametrize(
    "text", ["**Orvane** is a lake.", "**One** and **two**", "It is deep.", "", "** a **", "snake__case__"]
)
def test_what_does_not(text: str) -> None:
    assert not leads_in(text)


@pytest.mark.parametrize(
    ("lead", "between"),
    [
        ("**Is there a way through?**", " "),
        ("Is there a way through?", "\n"),
        ("Q: Is there a way through?", "\n\n"),
        ("**Ways through.**", " "),
        ("- **Ways through.**", " "),
        ("### Ways through", "\n\n"),
        ("### Ways through", "\n"),
    ],
)
def test_what_introduces_an_answer_stays_with_it(lead: str, between: str) -> None:
    text = f"{FILLER}\n\n{lead}{between}Go east first. The sluice of Orvane is 4 m in width.\n\n{FILLER}"
    out = kept(text, 100)
    assert lead in out and "4 m" in out
    assert out.index(lead) < out.index("4 m")


@pytest.mark.parametrize(
    "lead", ["## Width of the Orvane sluice", "How wide is Orvane's sluice?", "**Orvane sluice width.**"]
)
def test_what_introduces_is_not_kept_without_what_it_introduces(lead: str) -> None:
    text = f"{FILLER}\n\n{lead}\n\nIt is 4 m. Boats pass.\n\n{FILLER}"
    enough = len(f"[Source:  | u]\n{lead}\nIt is 4 m.\n")
    assert kept(text, enough) == f"{lead}\nIt is 4 m."
    assert kept(text, enough - 1) == lead
    headings = f"{FILLER}\n\n## Orvane sluice width\n\n## Gate\n\nIt is 4 m."
    assert kept(headings, 40) == "## Orvane sluice width"


def test_a_heading_above_a_table_brings_its_first_row() -> None:
    table = "| Gate | m |\n|---|---|\n| north | 4 |\n| south | 5 |"
    out = kept(f"{FILLER}\n\n## Orvane sluice width\n\n{table}\n\n{FILLER}", 76)
    assert out == "## Orvane sluice width\n" + table.rpartition("\n")[0]


def test_only_where_it_fits() -> None:
    text = f"{FILLER}\n\n## Ways through\n\nThe sluice of Orvane is 4 m in width.\n\n{FILLER}"
    assert kept(text, 45) == "The sluice of Orvane is 4 m in width."


def test_what_is_left_pays_for_the_lead_ins_of_lesser_units() -> None:
    best, lesser = "The sluice of Orvane is 4 m in width.", "Orvane has an old sluice."
    text = f"{best}\n\n## Ways through\n\n{lesser}\n\n{FILLER}"
    assert kept(text, 80) == f"{best}\n{lesser}"
    assert kept(text, 100) == f"{best}\n## Ways through\n{lesser}"


def test_a_heading_that_the_title_holds_is_not_repeated() -> None:
    text = f"# Ways Through\n\nThe sluice of Orvane is 4 m in width.\n\n{FILLER}"
    title = "Ways through - a guide"
    assert kept(text, 80, title) == "The sluice of Orvane is 4 m in width."
    assert kept(text, 80, "Ways").startswith("# Ways Through")


def test_the_lead_in_of_another_item_or_paragraph_is_not_kept() -> None:
    text = f"- **Ways through.** Go east.\n- The sluice of Orvane is 4 m in width.\n\n{FILLER}"
    assert kept(text, 60) == "- The sluice of Orvane is 4 m in width."
    text = f"**Ways through.** Go east.\n\nThe sluice of Orvane is 4 m in width.\n\n{FILLER}"
    assert kept(text, 60) == "The sluice of Orvane is 4 m in width."
