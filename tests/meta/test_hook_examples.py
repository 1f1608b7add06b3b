"""Every hook, used. ``docs/hooks.md`` shows the marked parts of this file, word for word."""

from __future__ import annotations

import io
from argparse import ArgumentParser
from types import SimpleNamespace
from typing import Any

import pytest

from webfetch_core.errors import CacheError
from webfetch_core.registry.manager import LoadedPlugin, Manager
from webfetch_core.testing import FakeContext, ScriptedEngine, ScriptedFetcher, fake_plugin


class Module:
    """The module of a plugin, made of the names of one example."""

    def __init__(self, names: dict[str, Any]) -> None:
        vars(self).update({k: v for k, v in names.items() if k.startswith("webfetch_")})


def test_search_engines(wf: Any) -> None:
    # [webfetch_search_engines]
    from webfetch_core.api import Provider, SearchHit, SearchRequest, SearchTraits, hookimpl

    PAGES = {"leave": "Leave and holidays", "travel": "Travel and holidays abroad"}

    class Handbook:
        def search(self, request: SearchRequest) -> list[SearchHit]:
            words = set(request.query.lower().split())
            found = [
                SearchHit(url=f"https://handbook.example/{page}", title=title)
                for page, title in PAGES.items()
                if words & set(title.lower().split())
            ]
            return found[: request.limit]

        def fingerprint(self) -> str:
            return "edition 7"  # another edition, another answer

    @hookimpl
    def webfetch_search_engines():
        return [
            Provider(
                name="handbook",
                summary="Our handbook",
                build=lambda settings, context: Handbook(),
                traits=SearchTraits(network=False),
            )
        ]

    # [end]
    host = wf(("search_handbook", Module(locals())))
    assert [hit.engine for hit in host.search("leave").hits] == ["handbook"]
    assert host.search("vacation").hits == ()


def test_fetchers(wf: Any) -> None:
    # [webfetch_fetchers]
    from webfetch_core.api import FetchRequest, FetchTraits, Page, PageError, Provider, hookimpl

    class Wiki:
        def fetch(self, request: FetchRequest) -> Page:
            if request.url != "wiki:start":
                raise PageError(f"{request.url}: no such page", kind="not_found")
            return Page(url=request.url, final_url=request.url, body=b"Welcome", content_type="text/plain")

    @hookimpl
    def webfetch_fetchers():
        return [
            Provider(
                name="wiki",
                summary="Pages of the wiki",
                build=lambda settings, context: Wiki(),
                traits=FetchTraits(schemes=("wiki",)),
            )
        ]

    # [end]
    request = FetchRequest(url="wiki:start")
    (provider,) = webfetch_fetchers()
    assert provider.build(None, FakeContext()).fetch(request).body == b"Welcome"
    assert "wiki" in {p.name for p in wf(("fetch_wiki", Module(locals()))).status().providers}


def test_extractors(wf: Any) -> None:
    # [webfetch_extractors]
    from webfetch_core.api import Document, ExtractTraits, Page, Provider, hookimpl

    class Subtitles:
        def extract(self, page: Page) -> Document | None:
            lines = page.body.decode("utf-8", "replace").splitlines()
            spoken = [line for line in lines if line and not line.isdigit() and "-->" not in line]
            return Document(url=page.final_url or page.url, text="\n".join(spoken)) if spoken else None

    @hookimpl
    def webfetch_extractors():
        return [
            Provider(
                name="subtitles",
                summary="What is said in a film",
                build=lambda settings, context: Subtitles(),
                traits=ExtractTraits(content_types=("application/x-subrip",)),
            )
        ]

    # [end]
    host = wf(("extract_subtitles", Module(locals())))
    body = b"1\n00:00:01,000 --> 00:00:02,000\nGood evening.\n"
    document = host.extract(body, url="https://film.example/a.srt", content_type="application/x-subrip")
    assert document is not None and document.text == "Good evening."


def test_rankers(wf: Any) -> None:
    # [webfetch_rankers]
    from collections.abc import Sequence

    from webfetch_core.api import Provider, RankTraits, hookimpl

    class Overlap:
        def score(self, query: str, passages: Sequence[str]) -> list[float]:
            words = set(query.lower().split())
            return [float(len(words & set(passage.lower().split()))) for passage in passages]

    @hookimpl
    def webfetch_rankers():
        return [
            Provider(
                name="overlap",
                summary="Words in common",
                build=lambda settings, context: Overlap(),
                traits=RankTraits(kind="lexical"),
            )
        ]

    # [end]
    host = wf(("rank_overlap", Module(locals())))
    assert host.rank("red house", ["a blue car", "the red house"])[0].index == 1


def test_compressors(wf: Any) -> None:
    # [webfetch_compressors]
    from collections.abc import Sequence

    from webfetch_core.api import Chunk, Provider, hookimpl

    class First:
        def compress(self, query: str, chunks: Sequence[Chunk], budget: int) -> list[Chunk]:
            return [chunk for chunk in chunks[:1] if len(chunk.text) <= budget]

    @hookimpl
    def webfetch_compressors():
        return [
            Provider(
                name="first",
                summary="The best passage alone",
                priority=5,
                build=lambda settings, context: First(),
            )
        ]

    # [end]
    host = wf(("compress_first", Module(locals())))
    chunks = [Chunk(text="one", url="https://a.example/"), Chunk(text="two", url="https://b.example/")]
    assert host.compress("q", chunks) == chunks[:1]


def test_caches(wf: Any) -> None:
    # [webfetch_caches]
    from webfetch_core.api import NotConfigured, Provider, hookimpl

    def build(settings, context):
        if "SHARED_CACHE" not in context.environ:
            raise NotConfigured("SHARED_CACHE is not set", fix="set it to the folder of the shared cache")
        from webfetch_core.testing import MemoryCache  # a real plugin imports its library here

        return MemoryCache()

    @hookimpl
    def webfetch_caches():
        return [Provider(name="shared", summary="One cache for the team", build=build)]

    # [end]
    assert wf(("cache_shared", Module(locals())), environ={"SHARED_CACHE": "1"}).cache() is not None
    with pytest.raises(CacheError, match="SHARED_CACHE is not set"):
        wf(("cache_shared", Module(locals()))).cache()


def test_query_matchers(wf: Any) -> None:
    # [webfetch_query_matchers]
    from collections.abc import Sequence

    from webfetch_core.api import Match, Provider, hookimpl

    class SameWords:
        def match(self, query: str, candidates: Sequence[str]) -> Match | None:
            wanted = sorted(query.lower().split())
            for index, candidate in enumerate(candidates):
                if sorted(candidate.lower().split()) == wanted:
                    return Match(index=index, query=candidate, score=1.0, reason="same words")
            return None

    @hookimpl
    def webfetch_query_matchers():
        return [
            Provider(
                name="same_words",
                summary="The same words in any order",
                build=lambda settings, context: SameWords(),
            )
        ]

    # [end]
    host = wf(("match_same_words", Module(locals())))
    found = host.match("height lighthouse", ["lighthouse height"])
    assert found is not None and found.query == "lighthouse height"


def test_freshness_classifiers(wf: Any) -> None:
    # [webfetch_freshness_classifiers]
    from datetime import datetime

    from webfetch_core.api import Freshness, Provider, hookimpl

    class Tickers:
        def classify(self, query: str, now: datetime) -> Freshness | None:
            return Freshness.REALTIME if query.isupper() and len(query) <= 5 else None

    @hookimpl
    def webfetch_freshness_classifiers():
        return [
            Provider(
                name="tickers",
                summary="Share prices are news",
                priority=10,
                build=lambda settings, context: Tickers(),
            )
        ]

    # [end]
    host = wf(("freshness_tickers", Module(locals())))
    assert host.classify_freshness("ACME") is Freshness.REALTIME
    assert host.classify_freshness("history of lighthouses") is not None


def test_llms(wf: Any) -> None:
    # [webfetch_llms]
    from collections.abc import Mapping, Sequence

    from attrs import frozen

    from webfetch_core.api import BadResponse, EnvKey, Provider, hookimpl

    @frozen
    class Settings:
        base_url: str = "https://model.example/v1"

    class Model:
        def __init__(self, settings, context):
            self.url, self.http = f"{settings.base_url}/complete", context.http
            self.key = context.environ["MODEL_KEY"]

        def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, object]) -> object:
            reply = self.http.post(
                self.url,
                json={"messages": list(messages), "schema": schema},
                headers={"Authorization": f"Bearer {self.key}"},
            ).json()
            if not isinstance(reply, dict) or "answer" not in reply:
                raise BadResponse("no answer in what the model sent")
            return reply["answer"]

    @hookimpl
    def webfetch_llms():
        return [
            Provider(
                name="model",
                summary="A model that answers in JSON",
                settings=Settings,
                requires=(EnvKey("MODEL_KEY"),),
                build=Model,
            )
        ]

    # [end]
    plugin = ("llm_model", Module(locals()))
    off, on = (
        next(p for p in wf(plugin, environ=environ).status().providers if p.stage == "llm")
        for environ in ({}, {"MODEL_KEY": "x"})
    )
    assert off.state == "off" and "MODEL_KEY is not set" in off.reason
    assert on.state == "ready"


def test_veto_url(wf: Any) -> None:
    # [webfetch_veto_url]
    from webfetch_core.api import hookimpl

    @hookimpl
    def webfetch_veto_url(url: str) -> str | None:
        return "not for machines" if "/private/" in url else None

    # [end]
    pages = {"https://a.example/private/x": "x"}
    host = wf(
        ("veto", Module(locals())), fake_plugin("fetch", ScriptedFetcher(pages)),
        fake_plugin("search", ScriptedEngine(list(pages))),
    )  # fmt: skip
    result = host.search("anything")
    assert [(page.kind, "not for machines" in page.reason) for page in result.failed_urls] == [
        ("refused", True)
    ]


def test_event(wf: Any) -> None:
    seen = []

    # [webfetch_event]
    from webfetch_core.api import Event, hookimpl

    @hookimpl
    def webfetch_event(event: Event) -> None:
        if event.name == "call.finished":
            seen.append(f"{event.stage} {event.provider}: {event.outcome} in {event.elapsed_s:.1f} s")

    # [end]
    host = wf(
        ("watch", Module(locals())),
        fake_plugin("search", ScriptedEngine(["https://a.example/"]), name="mine"),
    )
    host.search("anything")
    host.close()
    assert "search mine: ok in 0.0 s" in seen


def test_commands() -> None:
    # [webfetch_commands]
    from webfetch_core.api import CommandSet, hookimpl

    def run(args, context, out) -> int:
        print(f"hello, {args.name}", file=out)
        return 0

    @hookimpl
    def webfetch_commands(commands: CommandSet) -> None:
        commands.add(
            "greet",
            help="say hello",
            configure=lambda parser: parser.add_argument("name"),
            run=run,
        )

    # [end]
    class Commands:
        def add(self, name: str, *, help: str, configure: Any, run: Any) -> None:
            self.added = (name, help, configure, run)

    commands = Commands()
    manager = Manager()
    manager.register(Module(locals()), LoadedPlugin(name="greet"))
    assert not [a.problem for a in manager.ask_each("webfetch_commands", commands=commands) if a.problem]
    out = io.StringIO()
    assert commands.added[3](type("Args", (), {"name": "Tarn"}), FakeContext(), out) == 0
    assert commands.added[0] == "greet" and out.getvalue() == "hello, Tarn\n"


def test_servers(wf: Any) -> None:
    # [webfetch_servers]
    from webfetch_core import ToolBox
    from webfetch_core.api import Server, hookimpl

    def run(args, context) -> int:
        with context.open() as wf:
            tools = ToolBox(wf).tools()
        context.stdout.write(args.greeting.encode() + b"\n")
        context.note(f"{len(tools)} tools")
        return 0

    @hookimpl
    def webfetch_servers():
        return [
            Server(
                name="greet",
                summary="says hello and ends",
                configure=lambda parser: parser.add_argument("--greeting", default="hello"),
                run=run,
            )
        ]

    # [end]
    manager = Manager()
    manager.register(Module(locals()), LoadedPlugin(name="serve_greet"))
    (answer,) = [a for a in manager.ask_each("webfetch_servers") if not a.problem]
    (server,) = answer.value
    parser = ArgumentParser()
    server.configure(parser)
    out, notes = io.BytesIO(), []
    context = SimpleNamespace(open=wf, stdout=out, note=notes.append)
    assert server.run(parser.parse_args(["--greeting", "hei"]), context) == 0
    assert out.getvalue() == b"hei\n" and notes[0].endswith(" tools")


def test_health_checks(wf: Any) -> None:
    # [webfetch_health_checks]
    from pathlib import Path

    from webfetch_core.api import HealthCheck, hookimpl

    def check_folder() -> str | None:
        folder = Path("/no/such/folder")
        return None if folder.is_dir() else f"{folder} is not there: make it, or set search_files.folder"

    @hookimpl
    def webfetch_health_checks():
        return [HealthCheck(name="folder of the notes", check=check_folder)]

    # [end]
    rows = wf(("files", Module(locals()))).doctor()
    (row,) = [row for row in rows if row.plugin == "files"]
    assert row.name == "folder of the notes" and "make it" in row.problem


def test_model_exporters(tmp_path: Any) -> None:
    # [webfetch_model_exporters]
    from webfetch_core.api import ExportReport, ExportRequest, ModelExporter, hookimpl

    def export(asked: ExportRequest) -> ExportReport:
        weights = (asked.source / "weights.txt").read_text()
        (asked.target / "model.txt").write_text(weights.upper())
        return ExportReport(kind="crossencoder", figures={"drift": 0.0})

    @hookimpl
    def webfetch_model_exporters():
        return [
            ModelExporter(name="capitals", kinds=("crossencoder",), pick=lambda names: names, export=export)
        ]

    # [end]
    manager = Manager()
    manager.register(Module(locals()), LoadedPlugin(name="capitals"))
    (answer,) = manager.ask_each("webfetch_model_exporters")
    (exporter,) = answer.value
    (tmp_path / "weights.txt").write_text("abc")
    asked = ExportRequest(source=tmp_path, target=tmp_path, tell=print)
    assert exporter.export(asked).problems == ()
    assert (tmp_path / "model.txt").read_text() == "ABC"
