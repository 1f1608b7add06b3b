"""Files that are no text: illegible, locked, scanned, damaged, exploding, or no PDF at all."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from webfetch_extract_pdf.legibility import is_gibberish, letters_of
from webfetch_extract_pdf.precheck import largest_stream

from webfetch_core.api import PageError

TEXT = [
    "The harbour clock was rebuilt in 1931 after the fire, and its bell, which weighs",
    "four hundred kilograms, was cast anew in the following spring by the same foundry",
    "that had delivered the first one a century before. Since then it has been wound",
    "every morning by the keeper of the lock, who also writes down the level of water.",
]
IMAGE = "/Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8"
SCAN = "q 595 0 0 842 0 0 cm /Im Do Q"


def refused(kit: Any, body: bytes, **options: Any) -> PageError:
    with pytest.raises(PageError) as caught:
        kit.read(body, **options)
    return caught.value


def font_that_says(kit: Any, writer: Any, shift: int) -> None:
    """Make ``F9`` a font that looks like Helvetica and calls every character another."""
    number = writer.stream(kit.cmap([(0x20, 0x7E, 0x20 + shift)], width=2))
    writer.fonts["F9"] = (
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding "
        f"/ToUnicode {number} 0 R >>"
    )


def scanned(kit: Any, writer: Any) -> Any:
    number = writer.stream(b"\x80", IMAGE)
    return writer.page(SCAN, resources=f"/XObject << /Im {number} 0 R >>")


# ---- illegible ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [1, 3, 0xE000 - 0x20])
def test_garbage_is_refused_as_such(kit: Any, shift: int) -> None:
    writer = kit.Writer()
    font_that_says(kit, writer, shift)
    error = refused(kit, writer.page(kit.lines(50, 60, TEXT, font="F9")).build())
    assert error.kind == "bad_encoding"
    assert "illegible" in str(error) and "OCR" in error.fix


def test_illegible_pages_are_dropped_and_counted(kit: Any) -> None:
    writer = kit.Writer()
    font_that_says(kit, writer, 3)
    writer.page(kit.lines(50, 60, TEXT)).page(kit.lines(50, 60, TEXT, font="F9"))
    document = kit.read(writer.build())
    assert document.text == " ".join(TEXT)
    assert document.flags == ("pages_dropped",)
    assert document.metadata["pages_dropped"] == "1"
    assert [step.name for step in document.steps] == ["pdfium", "pdfplumber", "legibility"]


def test_a_page_that_one_engine_cannot_read_is_read_by_the_other(kit: Any) -> None:
    """PDFium finds no character in vertical writing with a font that is not embedded."""
    document = kit.read(kit.Writer().page(kit.show(400, 80, "東京都の人口は多い", 12, "FV")).build())
    assert document.text == "東京都の人口は多い"
    assert [(step.name, step.won) for step in document.steps] == [("pdfium", False), ("pdfplumber", True)]


def test_single_glyphs_without_a_meaning_are_left_out(kit: Any) -> None:
    document = kit.read(kit.Writer().page(kit.show(50, 60, "Cut o\x01 the supply\x7f, size 12")).build())
    assert "Cut o" in document.text and "size 12" in document.text
    assert not any(c < " " or c == "\x7f" for c in document.text)


@pytest.mark.parametrize(
    "text",
    [
        " ".join(TEXT),
        "Der Umlauf des Wassers wird jeden Morgen vom Wärter der Schleuse "
        "aufgeschrieben, und er zieht die Uhr auf, "
        "die nach dem Brand neu gebaut worden ist, so wie es schon sein Vater und dessen "
        "Vater getan haben, jahrelang.",
        "Часы в гавани были построены заново после пожара, и с тех пор их каждое утро "
        "заводит смотритель шлюза, "
        "который записывает уровень воды в большую книгу, как это делали его отец и его дед много лет назад.",
        "Το ρολόι του λιμανιού ξαναχτίστηκε μετά τη φωτιά και από τότε το κουρδίζει κάθε "
        "πρωί ο φύλακας, ο οποίος "
        "σημειώνει και τη στάθμη του νερού στο μεγάλο βιβλίο όπως έκαναν ο πατέρας του "
        "και ο παππούς του παλιά.",
        "Zegar w porcie został odbudowany po pożarze i od tego czasu każdego ranka "
        "nakręca go strażnik śluzy, który "
        "zapisuje także poziom wody w dużej księdze, tak jak robili to jego ojciec i dziadek wiele lat temu.",
        "A kikötő óráját a tűz után újjáépítették, és azóta minden reggel a zsilipőr "
        "húzza fel, aki a víz szintjét "
        "is feljegyzi a nagy könyvbe, ahogyan azt az apja és a nagyapja is tette sok "
        "évvel ezelőtt a városban.",
    ],
)
def test_languages_are_no_gibberish_and_shifted_ones_are(text: str) -> None:
    assert not is_gibberish(letters_of(text)) and not is_gibberish(letters_of(text * 2))
    for shift in (1, 2, 3):
        shifted = "".join(_next(c, shift) for c in text.lower()) * 2
        assert is_gibberish(letters_of(shifted)), shift


def _next(char: str, shift: int) -> str:
    for first, last in (("a", "z"), ("а", "я"), ("α", "ω")):
        if first <= char <= last:
            return chr(ord(first) + (ord(char) - ord(first) + shift) % (ord(last) - ord(first) + 1))
    return char


def test_few_letters_are_not_judged() -> None:
    assert not is_gibberish(letters_of("XKCD QWZ BVX 12"))


# ---- locked ---------------------------------------------------------------------------------------------


def test_an_empty_password_is_tried(kit: Any) -> None:
    assert kit.read(kit.Writer().page(kit.lines(50, 60, TEXT)).build(user="")).text == " ".join(TEXT)


def test_a_password_that_is_needed_is_told(kit: Any) -> None:
    error = refused(kit, kit.Writer().page(kit.lines(50, 60, TEXT)).build(user="secret"))
    assert error.kind == "encrypted"
    assert "password" in str(error) and error.fix


def test_an_unknown_way_of_encryption_is_told(kit: Any) -> None:
    body = kit.Writer().page(kit.lines(50, 60, TEXT)).build(user="").replace(b"/V 1 /R 2", b"/V 9 /R 9")
    error = refused(kit, body)
    assert error.kind == "encrypted" and error.fix


# ---- without text ---------------------------------------------------------------------------------------


def test_a_scan_has_no_text_layer(kit: Any) -> None:
    error = refused(kit, scanned(kit, scanned(kit, kit.Writer())).build())
    assert error.kind == "no_text_layer"
    assert "2 pages" in str(error)


def test_text_beside_scans_is_text(kit: Any) -> None:
    document = kit.read(scanned(kit, kit.Writer().page(kit.lines(50, 60, TEXT))).build())
    assert document.text == " ".join(TEXT)
    assert document.flags == ("partly_scanned",)
    assert document.metadata["pages_without_text"] == "1"


def test_letters_that_are_drawn_as_shapes_are_no_text(kit: Any) -> None:
    error = refused(kit, kit.Writer().page("0 g 60 700 m 80 720 100 740 120 700 c f").build())
    assert error.kind == "no_text_layer"


def test_an_empty_page_is_empty(kit: Any) -> None:
    assert refused(kit, kit.Writer().page("").build()).kind == "empty"


# ---- no PDF, or half of one -----------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"<html><p>Not found</p></html>", b"\0" * 4_000])
def test_what_is_no_pdf_is_told(kit: Any, body: bytes) -> None:
    assert refused(kit, body).kind == "unsupported_type"


def test_a_file_without_its_end_is_mended(kit: Any) -> None:
    body = kit.Writer().page(kit.lines(50, 60, TEXT)).build()
    assert kit.read(body[: body.index(b"xref")]).text == " ".join(TEXT)


def test_wrong_places_in_the_table_of_objects_are_mended(kit: Any) -> None:
    body = kit.Writer().page(kit.lines(50, 60, TEXT)).build()
    start = body.index(b"xref\n")
    assert kit.read(body[:start] + body[start:].replace(b"000000", b"000001")).text == " ".join(TEXT)


@given(st.integers(0, 2**32))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_damage_ends_in_a_document_or_an_error_of_ours(kit: Any, seed: int) -> None:
    body = bytearray(kit.Writer().page(kit.lines(50, 60, TEXT)).page(kit.lines(50, 60, TEXT)).build())
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 40)):
        body[chance.randrange(9, len(body))] = chance.randrange(256)
    if chance.random() < 0.5:
        del body[chance.randrange(9, len(body)) :]
    try:
        assert kit.read(bytes(body)).text
    except PageError as exc:
        assert exc.kind in ("bad_response", "empty", "no_text_layer", "encrypted", "bad_encoding")


# ---- bombs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [1, 2])
def test_a_stream_that_explodes_is_refused_before_it_does(kit: Any, packed: int) -> None:
    writer = kit.Writer().page(kit.lines(50, 60, TEXT))
    writer.stream(b" " * 8_000_000, packed=packed)
    error = refused(kit, writer.build(), max_stream_bytes=2_000_000)
    assert error.kind == "too_large"
    assert "max_stream_bytes" in error.fix
    assert kit.read(writer.build()).text == " ".join(TEXT)


def test_images_may_be_large(kit: Any) -> None:
    writer = kit.Writer().page(kit.lines(50, 60, TEXT))
    writer.stream(b" " * 8_000_000, IMAGE, packed=1)
    assert largest_stream(writer.build(), 2_000_000) == 0


def test_pages_that_hold_each_other_end(kit: Any) -> None:
    body = kit.Writer().page(kit.lines(50, 60, TEXT)).build()
    looped = body.replace(b"/Kids [", b"/Kids [ 9 0 R ", 1)
    tree = body[body.index(b"/Type /Pages") - 30 :].split(b" 0 obj")[0].split()[-1]
    looped = body.replace(b"/Kids [", b"/Kids [ " + tree + b" 0 R ", 1)
    try:
        assert " ".join(TEXT) in kit.read(looped).text
    except PageError as exc:
        assert exc.kind in ("bad_response", "empty")


def test_forms_that_hold_each_other_end(kit: Any) -> None:
    writer = kit.Writer()
    form = len(writer.objects) + 1
    writer.stream(
        b"/Fm Do",
        f"/Type /XObject /Subtype /Form /BBox [0 0 595 842] /Resources << /XObject << /Fm {form} 0 R >> >>",
    )
    writer.page(kit.lines(50, 60, TEXT), "/Fm Do", resources=f"/XObject << /Fm {form} 0 R >>")
    assert kit.read(writer.build()).text == " ".join(TEXT)
