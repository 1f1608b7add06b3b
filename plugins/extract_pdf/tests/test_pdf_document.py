"""The document as a whole: headings, lists, what stands on every page, and what a file says of itself."""

from __future__ import annotations

from typing import Any

import pytest
from webfetch_extract_pdf.metadata import iso_date, said

BODY = [
    "The harbour clock was rebuilt in 1931 after the fire, and its bell was cast anew in",
    "the following spring by the foundry that had delivered the first one before.",
]
MORE = [
    "Since then it has been wound every morning by the keeper of the lock, who also puts",
    "down the level of the water in a book that is kept in the tower room.",
]


def test_paragraphs_are_told_by_their_distance(kit: Any) -> None:
    assert (
        kit.text(kit.lines(50, 60, BODY), kit.lines(50, 92, MORE)) == f"{' '.join(BODY)}\n\n{' '.join(MORE)}"
    )


def test_paragraphs_are_told_by_their_first_line(kit: Any) -> None:
    second = ["Since then it has been wound every morning by the keeper of the lock, who", "is paid for it."]
    text = kit.text(
        kit.lines(
            50, 60, [BODY[0], "the following spring by the foundry that had delivered the first one. It"]
        ),
        kit.show(50, 84, "weighs as much as the old one did, and is well."),
        kit.show(65, 96, second[0]),
        kit.show(50, 108, second[1]),
    )
    before, after = (" ".join(part.split()) for part in text.split("\n\n"))
    assert before.endswith("It weighs as much as the old one did, and is well.") and after == " ".join(second)


def test_a_paragraph_goes_on_on_the_next_page(kit: Any) -> None:
    writer = kit.Writer().page(kit.lines(50, 60, BODY), kit.lines(50, 92, MORE[:1]))
    document = kit.read(writer.page(kit.lines(50, 60, MORE[1:]), kit.lines(50, 92, BODY)).build())
    assert document.text == "\n\n".join([" ".join(BODY), " ".join(MORE), " ".join(BODY)])


def test_headings_are_told_by_the_size_of_their_type(kit: Any) -> None:
    text = kit.text(
        kit.show(50, 50, "The clock of the harbour", 20),
        kit.lines(50, 80, BODY),
        kit.show(50, 130, "Its keeper", 14),
        kit.lines(50, 150, MORE),
    )
    assert text == f"# The clock of the harbour\n\n{' '.join(BODY)}\n\n## Its keeper\n\n{' '.join(MORE)}"


def test_headings_are_told_by_their_weight(kit: Any) -> None:
    text = kit.text(
        kit.show(50, 60, "1. The clock", font="F2"), kit.lines(50, 76, BODY),
        kit.show(50, 120, "2. Its keeper", font="F2"), kit.lines(50, 136, MORE),
    )  # fmt: skip
    assert text == f"# 1. The clock\n\n{' '.join(BODY)}\n\n# 2. Its keeper\n\n{' '.join(MORE)}"


def test_headings_are_told_by_the_outline(kit: Any) -> None:
    writer = kit.Writer().page(kit.show(50, 60, "Its keeper"), kit.lines(50, 90, MORE))
    item = writer.add(f"<< /Title (Its  Keeper) /Parent {len(writer.objects) + 2} 0 R >>")
    writer.catalog = (
        f"/Outlines {writer.add(f'<< /Type /Outlines /First {item} 0 R /Last {item} 0 R /Count 1 >>')} 0 R"
    )
    assert kit.read(writer.build()).text == f"# Its keeper\n\n{' '.join(MORE)}"


def test_an_outline_that_runs_in_a_ring_ends(kit: Any) -> None:
    writer = kit.Writer().page(kit.lines(50, 60, BODY))
    item = len(writer.objects) + 1
    writer.add(f"<< /Title (Ring) /Next {item} 0 R /First {item} 0 R /Parent {item + 1} 0 R >>")
    writer.catalog = (
        f"/Outlines {writer.add(f'<< /Type /Outlines /First {item} 0 R /Last {item} 0 R /Count 1 >>')} 0 R"
    )
    assert kit.read(writer.build()).text == " ".join(BODY)


def test_lists_keep_their_items_and_depth(kit: Any) -> None:
    bullet = "\u2022"
    text = kit.text(
        kit.lines(50, 60, BODY),
        kit.show(
            60,
            92,
            f"{bullet} the first item, which is so long that it goes on upon the line that comes after",
        ),
        kit.show(69, 104, "its own"),
        kit.show(60, 116, f"{bullet} the second"),
        kit.show(80, 128, f"{bullet} a part of the second"),
        kit.show(60, 140, f"{bullet} the third"),
        kit.show(60, 160, "1. one"),
        kit.show(60, 172, "2. two"),
    )
    assert text.split("\n\n", 1)[1] == (
        "- the first item, which is so long that it goes on upon the line that comes after its own\n"
        "- the second\n  - a part of the second\n- the third\n1. one\n2. two"
    )


def test_code_keeps_its_lines_and_indentation(kit: Any) -> None:
    code = [(50, "def depth(gauge):"), (74, "return gauge.read()"), (50, "print(depth(one))")]
    text = kit.text(
        kit.lines(50, 60, BODY),
        *(kit.show(x, 100 + 12 * n, line, font="F3") for n, (x, line) in enumerate(code)),
    )
    assert text.endswith("```\ndef depth(gauge):\n    return gauge.read()\nprint(depth(one))\n```")


def test_what_stands_on_every_page_is_said_once(kit: Any) -> None:
    writer = kit.Writer()
    for n in range(1, 7):
        writer.page(
            kit.show(50, 30, "Annual report of the harbour board"), kit.show(50, 80, f"Chapter {n * n}:"),
            kit.lines(50, 110, BODY), kit.show(290, 815, str(n)),
        )  # fmt: skip
    text = kit.read(writer.build()).text
    assert text.count("Annual report of the harbour board") == 1
    assert text.count(" ".join(BODY)) == 6
    assert "\n\n3\n\n" not in text and not text.endswith("6")


@pytest.mark.parametrize("number", ["Page {} of 6", "- {} -", "{} / 6", "Seite {}", "{}"])
def test_page_numbers_are_left_out(kit: Any, number: str) -> None:
    writer = kit.Writer()
    months = ["May", "June", "July", "August", "March", "April"]
    for n, month in enumerate(months, start=1):
        writer.page(kit.show(50, 60, f"In {month} the water was low."), kit.show(290, 815, number.format(n)))
    assert kit.read(writer.build()).text == "\n\n".join(f"In {month} the water was low." for month in months)


def test_a_form_that_is_alike_on_every_page_stays(kit: Any) -> None:
    writer = kit.Writer()
    for n in range(1, 6):
        writer.page(
            kit.lines(
                50, 40, [f"Reading {n} of the gauge", *(f"Value {k}: {k * n}" for k in range(30))], lead=12
            )
        )
    text = kit.read(writer.build()).text
    assert text.count("of the gauge") == 5 and text.count("Value 3:") == 5


def test_title_author_and_date(kit: Any) -> None:
    writer = kit.Writer().page(kit.show(50, 50, "Another title", 20), kit.lines(50, 80, BODY))
    writer.info = (
        "/Title (The clock of the harbour) /Author (Ada Keeper) /Subject (Clocks) "
        "/CreationDate (D:20240131093000+01'00')"
    )
    document = kit.read(writer.build())
    assert (document.title, document.published) == ("The clock of the harbour", "2024-01-31T09:30:00+01:00")
    assert document.metadata["author"] == "Ada Keeper" and document.metadata["description"] == "Clocks"
    assert document.metadata["pages"] == "1"


def test_a_title_that_says_nothing_gives_way_to_the_first_heading(kit: Any) -> None:
    writer = kit.Writer().page(kit.show(50, 50, "The clock", 20), kit.lines(50, 80, BODY))
    writer.info = "/Title (Microsoft Word - draft7.doc)"
    assert kit.read(writer.build()).title == "The clock"


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("D:20240131093000+01'00'", "2024-01-31T09:30:00+01:00"),
        ("D:20240131093000Z", "2024-01-31T09:30:00Z"),
        ("D:20240131", "2024-01-31"),
        ("D:2024", "2024"),
        ("20240131093000", "2024-01-31T09:30:00"),
        ("D:20241301", None),
        ("D:00000101000000", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(value: str, date: str | None) -> None:
    assert iso_date(value) == date


@pytest.mark.parametrize(
    "value", ["untitled", "(anonymous)", "report_final.docx", " - ", "Microsoft Word - a.doc"]
)
def test_names_that_say_nothing(value: str) -> None:
    assert said(value) == ""


def test_links_are_kept(kit: Any) -> None:
    extra = (
        "/Annots [ << /Type /Annot /Subtype /Link /Rect [50 700 100 720] /A << /S /URI "
        "/URI (https://b.example/x) >> >> "
        "<< /Type /Annot /Subtype /Link /Rect [50 600 100 620] /A << /S /URI /URI (javascript:alert) >> >> ]"
    )
    document = kit.read(kit.Writer().page(kit.lines(50, 60, BODY), extra=extra).build())
    assert document.links == ("https://b.example/x",)


def test_values_of_form_fields_and_text_boxes_are_text(kit: Any) -> None:
    writer = kit.Writer()
    shown = writer.stream(
        b"BT /F1 10 Tf 2 4 Td (drawn by the form) Tj ET",
        f"/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 "
        f"{writer.fonts['F1']} >> >>",
    )
    extra = (
        f"/Annots [ << /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (x) /F 4 /Rect [50 "
        f"600 250 620] /AP << /N {shown} 0 R >> >> "
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Keeper) /V (Ada) /F 4 /Rect [50 560 250 580] >> "
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Secret) /V (unseen) /F 2 /Rect [50 520 250 540] >> ]"
    )
    text = kit.read(writer.page(kit.lines(50, 60, BODY), extra=extra).build()).text
    assert "drawn by the form" in text and "Keeper: Ada" in text and "unseen" not in text
