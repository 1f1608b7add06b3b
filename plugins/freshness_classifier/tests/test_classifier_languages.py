"""Queries in other languages: told from English, and answered by a few words of their own or not at all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from webfetch_freshness_classifier.classifier import TrainedClassifier
from webfetch_freshness_classifier.languages import is_english
from webfetch_freshness_classifier.model import load_model
from webfetch_freshness_classifier.words import read_query

from webfetch_core.api import Freshness

REALTIME, RECENT, STABLE = Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE
NOW = datetime(2026, 7, 20, tzinfo=UTC)
CLASSIFIER = TrainedClassifier(load_model())


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Wetter Tarn", REALTIME),
        ("Goldpreis heute", REALTIME),
        ("Wie alt ist die Bürgermeisterin von Tarn?", REALTIME),
        ("Goldpreis 2013", STABLE),
        ("Goldpreis seit 2013", REALTIME),
        ("Geschichte von Holt", STABLE),
        ("neueste Geschichte von Holt", RECENT),
        ("Bundestagswahl 2029", RECENT),
        ("Wer regiert in Holt", None),
        ("prix de l'or", REALTIME),
        ("quelle est la capitale du Pérou", STABLE),
        ("Quel temps fait-il aujourd’hui", REALTIME),
        ("qui est le maire de Tarn", None),
        ("precio del oro", REALTIME),
        ("¿Quién inventó el teléfono?", STABLE),
        ("quién ganó la copa de 1970", STABLE),
        ("prezzo oro oggi", REALTIME),
        ("storia di Roma", STABLE),
        ("cotação do dólar", REALTIME),
        ("quem inventou o telefone", STABLE),
        ("今天 天气", REALTIME),
        ("2013年の金価格", STABLE),
        ("2026年の金価格", REALTIME),
        ("2013年以来の金価格", REALTIME),
        ("1500 euro in dollar Wechselkurs", REALTIME),
        ("日本の首都", STABLE),
        ("iPhone 最新", RECENT),
        ("서울 날씨", REALTIME),
        ("погода в Москве", REALTIME),
        ("سعر الذهب", REALTIME),
        ("كيف حالك", None),
        ("Ktorý hrad je najvyšší", None),
        ("Cine este primarul", None),
    ],
)
def test_a_few_words_of_other_languages_speak(query: str, expected: Freshness | None) -> None:
    assert CLASSIFIER.classify(query, NOW) is expected


@pytest.mark.parametrize(
    "query",
    [
        "who is the mayor of Málaga",
        "weather in Kraków",
        "zebra crossing",
        "Pokémon world champion",
        "what is el niño",
        "who won the tour de france",
        "Beyoncé's newest album",
        "hours until new year",
        "which award was held in Los Angeles",
        "42",
    ],
)
def test_english_is_read(query: str) -> None:
    assert is_english(read_query(query, NOW))


def test_the_present_is_known_in_a_mixed_query() -> None:
    assert CLASSIFIER.classify("Bäckerei Holt geöffnet right now", NOW) is REALTIME
