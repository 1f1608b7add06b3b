"""What a model is told of the installation."""

from __future__ import annotations

import json

from webfetch_core.registry.report import ProviderReport, SettingReport, StatusReport
from webfetch_core.tool.reports import status_plain, status_text

REPORT = StatusReport(
    version="1.2.3",
    python="3.11.9",
    home="/srv/someone/.local/share/webfetch",
    serving="fuse of brave, ddg",
    providers=(
        ProviderReport(stage="search", name="tavily", plugin="t", state="off", reason="set TAVILY_API_KEY"),
        ProviderReport(stage="search", name="brave", plugin="b"),
        ProviderReport(stage="search", name="ddg", plugin="d", state="benched", reason="3 failures"),
        ProviderReport(stage="search", name="exa", plugin="e", state="unused"),
        ProviderReport(
            stage="rank", name="onnx", plugin="o", state="broken", reason="no file /srv/someone/m.onnx here"
        ),
        ProviderReport(stage="cache", name="lmdb", plugin="c"),
    ),
    settings=(SettingReport(key="home", value="/srv/someone"),),
    cache={"path": "/srv/someone/c/cache.lmdb", "bytes": 12_345_678, "entries": {"pages": 1234, "stats": 0}},
    counters={"searches": 4321},
    notes=("nothing is ready for the stage fetch: pip install webfetch-fetch-http",),
)


def test_the_text() -> None:
    assert status_text(REPORT) == (
        "webfetch 1.2.3\n"
        "Searches are answered by: fuse of brave, ddg\n"
        "search: brave ready; ddg benched (3 failures); tavily off (set TAVILY_API_KEY)\n"
        "rank: onnx broken (no file (a path) here)\n"
        "cache: file cache.lmdb, 12.3 MB, 1,234 pages\n"
        "searches so far, by everybody who used this cache: 4,321\n"
        "To be done by the person who runs webfetch:\n"
        "- nothing is ready for the stage fetch: pip install webfetch-fetch-http"
    )


def test_no_path_and_no_setting_is_in_the_data_either() -> None:
    plain = status_plain(REPORT)
    assert "someone" not in json.dumps(plain) and "settings" not in plain
    assert plain["cache"] == {"bytes": 12_345_678, "entries": {"pages": 1234, "stats": 0}}
    assert [row["name"] for row in plain["providers"]] == ["tavily", "brave", "ddg", "onnx", "lmdb"]


def test_a_cache_that_is_off_says_why() -> None:
    off = StatusReport(
        version="1", python="3", home="", serving="x", cache={"problem": "no room in /srv/someone/c"}
    )
    assert "cache: off (no room in (a path)" in status_text(off)
    assert status_plain(off)["cache"] == {"problem": "no room in (a path)"}
    none = StatusReport(version="1", python="3", home="", serving="x", cache={"path": "", "entries": {}})
    assert "cache: none; nothing is kept" in status_text(none)
