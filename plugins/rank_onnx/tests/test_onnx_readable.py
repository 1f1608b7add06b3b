"""The bi-encoder has no opinion of languages that its vocabulary was not made for, and says so."""

from __future__ import annotations

import random
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from webfetch_rank_onnx import minilm
from webfetch_rank_onnx.biencoder import BiEncoder
from webfetch_rank_onnx.readable import ENOUGH_LETTERS, SAMPLE, Reader
from webfetch_rank_onnx.settings import RankOnnxSettings
from webfetch_rank_onnx.specs import MINILM
from webfetch_rank_onnx.streams import Streams

from webfetch_core import Settings, Webfetch
from webfetch_core.api import NotConfigured, RankTraits
from webfetch_core.testing import ScriptedRanker, fake_plugin, model_store

QUERY = "when was the lighthouse built"
ENGLISH = [
    "The lighthouse was finished in 1887, after four years of work on the rock.",
    "Keepers lived in two small rooms below the lamp until it was automated in 1972.",
    "Visitors may climb the tower in summer; the last boat back leaves at six.",
]
CODE = [
    "def parse_args(argv: Sequence[str]) -> argparse.Namespace:\n    parser = argparse.ArgumentParser()",
    "for i in range(len(rows)):\n    if rows[i].name == name:\n        return rows[i].value",
    "pip install --upgrade package && export PATH=$HOME/.local/bin:$PATH",
]
NAMES = [
    "| Player | Team | Goals |\n|---|---|---|\n| Harry Brown | Rangers | 12 |\n| Jim Wilson | Celtic | 9 |",
    "Members: James Taylor (vocals), David Moore (bass), Peter Novak (drums), Anna Kowalska (keys).",
    "1998: 3-1, 1999: 2-2, 2000: 0-4. Coach: Eric Stone. Captain: Ivan Petrov.",
]
OTHERS = {
    "fr": "Le phare fut achevé en 1887, après quatre années de travaux sur le rocher balayé par les vagues.",
    "de": "Der Leuchtturm wurde 1887 nach vierjähriger Bauzeit auf dem Felsen vor der Küste fertiggestellt.",
    "es": "El faro se terminó en 1887, después de cuatro años de obras sobre la roca azotada por las olas.",
    "tr": "Deniz feneri, kayalıklar üzerinde dört yıl süren çalışmaların ardından 1887'de tamamlandı.",
    "ru": "Маяк был достроен в 1887 году после четырёх лет работы на скале, открытой всем ветрам.",
    "el": "Ο φάρος ολοκληρώθηκε το 1887, ύστερα από τέσσερα χρόνια εργασιών πάνω στον βράχο.",
    "ar": "اكتمل بناء المنارة في عام 1887 بعد أربع سنوات من العمل فوق الصخرة المطلة على البحر.",
    "hi": "चट्टान पर चार साल के काम के बाद प्रकाशस्तंभ 1887 में बनकर तैयार हुआ और आज भी खड़ा है।",
    "th": "ประภาคารสร้างเสร็จในปี 1887 หลังจากทำงานบนโขดหินเป็นเวลาสี่ปีท่ามกลางคลื่นลมแรง",
    "zh": "灯塔在礁石上施工四年之后于1887年竣工，至今仍然矗立在海边，为过往的船只指引方向。",
    "vi": "Ngọn hải đăng được hoàn thành vào năm 1887, sau bốn năm xây dựng trên tảng đá giữa biển.",
}


@pytest.fixture(scope="module")
def reader() -> Reader:
    words = (files("webfetch_rank_onnx") / "data" / "vocab.txt").read_text(encoding="utf-8")
    return Reader(words.splitlines())


@pytest.mark.parametrize("passages", [ENGLISH, CODE, NAMES, [*ENGLISH, *CODE, *NAMES]])
def test_english_is_read_with_code_names_and_numbers(reader: Reader, passages: list[str]) -> None:
    assert reader.objection(QUERY, passages) == ""


@pytest.mark.parametrize("seed", range(5))
def test_english_is_read_with_typing_errors(reader: Reader, seed: int) -> None:
    chance = random.Random(seed)

    def mistyped(word: str) -> str:
        if len(word) < 4 or chance.random() > 0.25:
            return word
        at = chance.randrange(len(word) - 1)
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]

    passages = [" ".join(map(mistyped, text.split(" "))) for text in ENGLISH]
    assert reader.objection(mistyped("lighthouse") + " built when", passages) == ""


@pytest.mark.parametrize("language", OTHERS)
def test_other_languages_are_not(reader: Reader, language: str) -> None:
    assert "of the text" in reader.objection(QUERY, [OTHERS[language]] * 3)
    # A few foreign pages among the English ones are ranked with them.
    assert reader.objection(QUERY, [*ENGLISH, OTHERS[language]]) == ""


@pytest.mark.parametrize("language", ["ru", "el", "ar", "hi", "th", "zh"])
def test_a_query_in_another_script_is_not(reader: Reader, language: str) -> None:
    assert "of the query" in reader.objection(OTHERS[language], ENGLISH)


@pytest.mark.parametrize("passages", [[], [""], ["東京"], ["1887", "41.3 %", "-"], ["Łódź"]])
def test_too_little_text_says_nothing(reader: Reader, passages: list[str]) -> None:
    assert sum(map(len, passages)) < ENOUGH_LETTERS
    assert reader.objection("41.3", passages) == ""


@given(st.text(max_size=50), st.lists(st.text(max_size=80), max_size=12))
def test_any_text_is_judged(query: str, passages: list[str]) -> None:
    reader = Reader(["[CLS]", "the", "##s"])
    assert isinstance(reader.objection(query, passages), str)


def test_a_long_list_is_sampled_from_end_to_end(reader: Reader) -> None:
    mixed = ENGLISH * 400 + [OTHERS["de"]] * 10_000
    assert reader.objection(QUERY, mixed)
    seen: list[str] = []

    class Passage(str):
        __slots__ = ()

        def __getitem__(self, key: object) -> str:
            seen.append(str(self))
            return super().__getitem__(key)  # type: ignore[index]

    reader.objection(QUERY, [Passage(text) for text in mixed])
    assert len(seen) <= SAMPLE
    assert set(ENGLISH) & set(seen) and OTHERS["de"] in seen


def test_the_cascade_goes_on_without_it(tmp_path: Path) -> None:
    patient = evolve(Settings().ranking, patience_s=60.0)
    settings = Settings(
        home=str(tmp_path), rank=("words", "onnx"), cache=("none",), deadline_s=60.0, ranking=patient
    )
    german = [
        OTHERS["de"],
        "Die letzte Fähre fährt um sechs Uhr abends zurück zum Festland.",
        OTHERS["de"][:40],
    ]

    def shared(query: str, passages: list[str]) -> list[float]:
        asked = set(query.lower().split())
        return [float(len(asked & set(passage.lower().split()))) for passage in passages]

    words = fake_plugin("rank", ScriptedRanker(shared), "words", traits=RankTraits(kind="lexical"))
    with Webfetch(settings, environ={}, plugins=[words]) as wf:
        ranked = wf.rank("Wann fährt die letzte Fähre zurück?", german)
        assert ranked[0].index == 1
        assert all("biencoder" not in scored.steps for scored in ranked)
        english = wf.rank("when does the last boat leave", ENGLISH)
        assert english[0].index == 2
        assert "biencoder" in english[0].steps


def test_it_tells_why(tmp_path: Path) -> None:
    encoder = minilm.load(model_store(tmp_path).files(MINILM), RankOnnxSettings(threads=1))
    ranker = BiEncoder(encoder, None)
    try:
        with pytest.raises(NotConfigured, match=r"has no opinion: .* of its vocabulary"):
            ranker.score_within(QUERY, [OTHERS["ru"]] * 3, [0, 1, 2], 60.0)
        # Whoever asks for a score gets one, whatever the text.
        assert len(ranker.score(QUERY, [OTHERS["ru"]])) == 1
    finally:
        ranker.close()


def test_nothing_is_done_ahead_for_what_is_not_read(tmp_path: Path) -> None:
    encoder = minilm.load(model_store(tmp_path).files(MINILM), RankOnnxSettings(threads=1))
    started: list[int] = []

    class Watching(Streams):
        def submit(self, texts: Any, **options: Any) -> Any:
            started.append(len(texts()))
            return super().submit(texts, **options)

    encoder.streams.close()
    streams = Watching(encoder.streams._model, 1, 8)
    ranker = BiEncoder(evolve(encoder, streams=streams), None)
    try:
        ranker.prepare([OTHERS["de"], OTHERS["fr"]])
        assert started == []
        ranker.prepare(ENGLISH)
        assert sum(started) == len(ENGLISH)
    finally:
        ranker.close()
