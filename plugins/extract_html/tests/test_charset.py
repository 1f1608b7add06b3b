from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from webfetch_extract_html.charset import decode, is_binary
from webfetch_extract_html.prescan import meta_charset

TEXT = "Größe: “naïve” – 5 €"


@pytest.mark.parametrize(
    ("body", "content_type", "expected"),
    [
        (codecs.BOM_UTF8 + TEXT.encode(), "text/html; charset=latin-1", TEXT),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "text/html; charset=utf-8", TEXT),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "", TEXT),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "", TEXT),
        (TEXT.encode(), "text/html; charset=iso-8859-1", TEXT),
        (TEXT.encode(), "", TEXT),
        (TEXT.encode("cp1252"), "text/html; charset=ISO-8859-1", TEXT),
        (TEXT.encode("cp1252"), "text/html; charset='us-ascii'", TEXT),
        ("Уровень воды".encode("koi8-r"), 'text/html; charset="koi8-r"', "Уровень воды"),
        (
            b"<meta charset=windows-1251>" + "Уровень".encode("cp1251"),
            "",
            "<meta charset=windows-1251>Уровень",
        ),
        (
            b"<meta http-equiv=Content-Type content='text/html; charset=gb2312'>"
            + "朱镕基水位".encode("gb18030"),
            "",
            None,
        ),
        (b'<?xml version="1.0" encoding="shift_jis"?>' + "水位①".encode("cp932"), "", None),
        ("水位".encode("euc-jp"), "text/html; charset=euc-jp", "水位"),
        ("수위".encode("cp949"), "text/html; charset=euc-kr", "수위"),
        ("水位".encode("utf-16-le"), "text/html; charset=utf-16le", "水位"),
        ("水位".encode("iso2022_jp"), "text/html; charset=iso-2022-jp", "水位"),
        (b"<!-- <meta charset=koi8-r> -->" + "é".encode(), "", "<!-- <meta charset=koi8-r> -->é"),
        (b"<meta charset=utf-16>caf\xc3\xa9", "", "<meta charset=utf-16>café"),
        (b"<meta charset=koi8-r>" + "Уровень".encode("koi8-r"), "text/html; charset=utf-8", None),
        (b"plain", "text/html; charset=no-such-charset", "plain"),
        (b"plain", "text/html; charset=zlib", "plain"),
        (b"", "", ""),
    ],
)
def test_decode(body, content_type, expected):
    text = decode(body, {}, content_type)
    if expected is None:
        assert "水位" in text or "Уровень" in text
        assert "\ufffd" not in text
    else:
        assert text == expected


def test_the_header_is_read_from_the_headers_too():
    assert decode("Уровень".encode("koi8-r"), {"content-type": "text/html; charset=koi8-r"}) == "Уровень"


def test_one_bad_byte_does_not_change_the_encoding():
    body = ("水位在夜间上升，闸门随后打开。" * 50).encode()
    text = decode(body + b"\xff" + body, {}, "")
    assert text.count("\ufffd") == 1
    assert text.count("水位") == 100


def test_an_undeclared_encoding_is_detected():
    body = ("Уровень воды в озере поднялся за ночь на два метра, и шлюз открыли. " * 20).encode("cp1251")
    assert "Уровень воды" in decode(body, {}, "")


@pytest.mark.parametrize(
    "content_type", ["", "text/html; charset=utf-8", "text/html; charset=utf-16", "text/html; charset=big5"]
)
def test_any_bytes_decode(content_type):
    assert isinstance(decode(bytes(range(256)) * 3, {}, content_type), str)


UNDECLARED = [
    ("cp1252", "L'été dernier, les élèves ont visité la forêt près du château où l'évêque avait été reçu."),
    ("cp1252", "¿Dónde está el niño? La señora cambió de opinión y pagó 30 €; él no volvió jamás."),
    ("cp1252", "Im Frühjahr wurde die große Brücke über den Fluß geöffnet, schöner als zuvor."),
    ("cp1252", "A população não está contente: as informações são úteis, o pão é bom, a maçã é fresca."),
    ("cp1252", "Förra året öppnade staden en ny skola där barnen från omgivningen går varje dag."),
    ("cp1252", "Sidste år åbnede byen en ny skole, som børnene fra området går på hver dag, også de ældre."),
    ("cp1252", "It’s the “old” house – rebuilt in 1931… and sold for £5,000. The café is open."),
    ("cp1252", "Temperature 25° today, 30° tomorrow. © The clock society."),
    ("iso8859-15", "Le cœur de l'œuvre coûte 30 € cet été; l'élève est déjà payé à la fête."),
    ("cp1250", "Zażółć gęślą jaźń. Mieszkańcy otworzyli nową szkołę, która będzie służyć dzieciom."),
    ("iso8859-2", "Zażółć gęślą jaźń. Mieszkańcy otworzyli nową szkołę, która będzie służyć dzieciom."),
    ("iso8859-2", "Příliš žluťoučký kůň úpěl ďábelské ódy a děti z okolí je budou poslouchat každý den."),
    ("cp1250", "A város új iskolát nyitott, ahová a környék gyermekei járnak; szigorúbb előírások jönnek."),
    ("cp1254", "Geçen yıl şehir yeni bir okul açtı; çocuklar her gün oraya gidiyor ve İzmir'i öğreniyor."),
    ("cp1257", "Praėjusiais metais miestas atidarė naują mokyklą, kurią kasdien lankys apylinkės vaikai."),
    ("cp1251", "Прошлой весной город открыл новую школу, в которую будут ходить дети из округи."),
    ("koi8-r", "Прошлой весной город открыл новую школу, в которую будут ходить дети из округи."),
    ("cp866", "Прошлой весной город открыл новую школу, в которую будут ходить дети из округи."),
    ("iso8859-5", "Прошлой весной город открыл новую школу, в которую будут ходить дети из округи."),
    ("cp1253", "Την περασμένη άνοιξη η πόλη άνοιξε ένα νέο σχολείο για τα παιδιά της περιοχής."),
    ("cp1255", "בשנה שעברה פתחה העיר בית ספר חדש, שבו ילמדו ילדי הסביבה מדי יום ביומו."),
    ("cp1256", "افتتحت المدينة في العام الماضي مدرسة جديدة يذهب إليها أطفال المنطقة كل يوم."),
    ("cp874", "เมื่อปีที่แล้วเมืองได้เปิดโรงเรียนใหม่ซึ่งเด็กในพื้นที่จะไปเรียนทุกวัน"),
    ("cp932", "昨年、町は新しい学校を開きました。近くの子どもたちが毎日通っています。"),
    ("euc_jp", "昨年、町は新しい学校を開きました。近くの子どもたちが毎日通っています。"),
    ("iso2022_jp", "昨年、町は新しい学校を開きました。近くの子どもたちが毎日通っています。"),
    ("cp949", "작년에 도시는 새로운 학교를 열었고, 주변 지역의 아이들이 매일 다니고 있습니다."),
    ("gb18030", "去年这个城市开了一所新学校，附近的孩子们每天都会去那里上课。"),
    ("big5", "去年這個城市開了一所新學校，附近的孩子們每天都會去那裡上課。"),
    ("utf-16-le", "No mark, and still read: Größe und Übersicht."),
    ("utf-16-be", "No mark, and still read: Größe und Übersicht."),
    ("utf-32-le", "No mark, and still read: Größe und Übersicht."),
    ("utf-32-be", "No mark, and still read: Größe und Übersicht."),
]


@pytest.mark.parametrize(("encoding", "sentence"), UNDECLARED)
def test_what_nobody_declared_is_told_by_its_language(encoding, sentence):
    page = f'<html><body><div id="nav"><a href="/">Home</a></div><p>{sentence}</p></body></html>'
    assert decode(page.encode(encoding), {}, "text/html") == page


def test_the_language_of_the_page_is_a_hint():
    word = "Þórður"
    page = f'<html lang="is"><p>{word}</p></html>'
    assert word in decode(page.encode("cp1252"))


def test_bytes_of_no_language_are_read_all_the_same():
    assert len(decode(bytes(range(128, 256)), {}, "")) > 0


@pytest.mark.parametrize(
    ("text", "binary"),
    [
        ("", False),
        ("".join(map(chr, range(1, 32))) + "The clock was rebuilt in 1931 after the fire, they say.", False),
        ("\0" * 5_000 + "<p>The clock was rebuilt.</p>", False),
        ("\0" * 5_000, True),
        ("".join(map(chr, range(256))) * 4, True),
        ("\ufffd\ufffdx" * 100, True),
        ("水位が上がった。" * 20, False),
    ],
)
def test_binaries_are_told_from_text_with_stray_controls(text, binary):
    assert is_binary(text) is binary


@pytest.mark.parametrize(
    ("head", "label"),
    [
        (b"<meta charset=iso8859-2>", "iso8859-2"),
        (b"<META CharSet = 'koi8-r' />", "koi8-r"),
        (b"<meta charset='koi8-r' charset=big5>", "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r' http-equiv=CONTENT-TYPE>", "koi8-r"),
        (b"<meta http-equiv=Content-Type content='text/html; charset=\"koi8-r\"'>", "koi8-r"),
        (b"<title>a<b don't></title><meta/charset=koi8-r>", "koi8-r"),
        (b"<!doctype html><?php x ?></ x><meta name=a><meta charset=koi8-r>", "koi8-r"),
        (b"<!--><meta charset=koi8-r>", "koi8-r"),
        (b"<metacharset=iso8859-2>", ""),
        (b"<meta content='text/html; charset=koi8-r'>", ""),
        (b"<meta http-equiv=Content-Style-Type content='text/html; charset=koi8-r'>", ""),
        (b"<meta name=description content='about charset=koi8-r'>", ""),
        (b"<meta test=\"' charset=koi8-r><p>\"'</p>", ""),
        (b'<p title="x><meta charset=koi8-r>"</p>', ""),
        (b"<!-- <meta charset=koi8-r> -->", ""),
        (b"<meta charset=koi8-r", ""),
        (b'<meta http-equiv="Content-Type<meta charset="utf-8">', ""),
        (b"<meta charset='>", ""),
        (b"", ""),
    ],
)
def test_the_prescan_of_the_standard(head, label):
    assert meta_charset(head) == label


@given(
    st.lists(
        st.sampled_from([b"<", b">", b"'", b'"', b"=", b"meta", b" ", b"charset", b"!--", b"-->", b"/", b"x"])
    )
)
def test_the_prescan_ends(parts):
    assert isinstance(meta_charset(b"".join(parts)), str)


@pytest.mark.parametrize(
    "piece", [b"<", b"<!--", b"<script>", b"<meta ", b"<style", b"\xe9", b"<a b='", b"\x1b$B"]
)
def test_detection_is_linear_in_hostile_bytes(piece):
    started = time.process_time()
    decode(piece * (300_000 // len(piece)) + b"\xe9", {}, "")
    assert time.process_time() - started < 30
