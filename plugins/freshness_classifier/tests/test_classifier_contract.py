from __future__ import annotations

from datetime import UTC, datetime

from webfetch_core.api import Freshness
from webfetch_core.testing.contracts import FreshnessClassifierContract

REALTIME, RECENT, STABLE = Freshness.REALTIME, Freshness.RECENT, Freshness.STABLE


class TestClassifier(FreshnessClassifierContract):
    plugin = "webfetch_freshness_classifier.plugin"
    provider = "classifier"
    now = datetime(2026, 7, 20, tzinfo=UTC)
    examples = {
        "bitcoin price": REALTIME,
        "weather in Tarn right now": REALTIME,
        "Tarn vs Holt score": REALTIME,
        "is the Quill lock open today": REALTIME,
        "who won the latest Tarn open": REALTIME,
        "how old is the mayor of Holt": REALTIME,
        "who is the mayor of Tarn": RECENT,
        "best budget phone": RECENT,
        "is the 1998 treaty of Tarn still in force": RECENT,
        "bitcoin price in 2013": STABLE,
        "weather on the day of the 1934 opening": STABLE,
        "who won the 1970 cup": STABLE,
        "boiling point of water": STABLE,
        "latest known eruption of Mount Orm before 1900": STABLE,
        "what changed in Vane 3.2": STABLE,
        "wetter in tarn": REALTIME,
        "東京の天気": REALTIME,
        "quién inventó el teléfono": STABLE,
        "Wer regiert in Holt": None,
        "ホルト市長": None,
    }
