"""The freshness class as the installed classifier tells it: by words, with the bi-encoder, or not at all."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from webfetch_core import Settings, Webfetch
from webfetch_core.models import Freshness
from webfetch_core.testing import FakeClock, ScriptedEngine, fake_plugin

pytest.importorskip("webfetch_freshness_classifier")

IN_2026 = 1_784_500_000.0


def host(home: Path, *plugins: str, **options: object) -> Webfetch:
    settings = Settings(home=str(home), allow_plugins=("freshness_classifier", *plugins), extract_workers=0)
    return Webfetch(settings, clock=FakeClock(epoch=IN_2026), **options)  # type: ignore[arg-type]


def test_words_are_enough(tmp_path: Path) -> None:
    with host(tmp_path) as wf:
        assert (
            wf.classify_freshness("東京の天気") is Freshness.REALTIME
        )  # which the cue words of the core lack
        assert wf.classify_freshness("who is the mayor of Tarn") is Freshness.RECENT
        assert wf.classify_freshness("mayor of Tarn in 2019") is Freshness.STABLE
        assert wf.classify_freshness("zebra crossing") is Freshness.RECENT


def test_the_shipped_bi_encoder_is_asked(tmp_path: Path) -> None:
    pytest.importorskip("webfetch_rank_onnx")
    with host(tmp_path, "rank_onnx") as wf:
        wf.rank("what is said of the lamp", ["The lamp burns oil.", "Rain fell."])  # loads it
        asked = threading.Event()
        wf.subscribe(lambda event: asked.set() if event.stage == "rank" else None)
        assert wf.classify_freshness("who is the mayor of Tarn") is Freshness.RECENT
        assert asked.wait(30)


def test_a_hint_is_above_it(tmp_path: Path) -> None:
    with host(tmp_path, plugins=[fake_plugin("search", ScriptedEngine([[]]))]) as wf:
        asked = [
            wf.search("gold price", cache_only=True, freshness=hint) for hint in (None, Freshness.STABLE)
        ]
        assert [result.freshness for result in asked] == [Freshness.REALTIME, Freshness.STABLE]
