"""Providers that do what a script says, as plugins that can be passed to ``Webfetch(plugins=[...])``.

A script is a sequence of steps, one a call, the last repeated: an exception is raised, a callable
is called with the call's arguments, :class:`Hang` and :class:`Slow` take time, anything else is
returned as it is. Every fake keeps its ``calls``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from ..errors import PageError, Unavailable
from ..markers import hookimpl
from ..models import (
    Chunk,
    Document,
    FetchRequest,
    Freshness,
    Match,
    Page,
    SearchHit,
    SearchRequest,
)
from ..providers import (
    ExtractTraits,
    FetchTraits,
    PluginContext,
    Provider,
    RankTraits,
    SearchTraits,
    Traits,
)
from ..registry.catalog import HOOKS

# ---- scripts ------------------------------------------------------------------------------------


@frozen
class Slow:
    """A step that answers ``value`` after ``seconds``."""

    seconds: float
    value: Any = None


@frozen(eq=False)
class Hang:
    """A step that answers nothing until ``released`` is set or ``at_most_s`` has passed."""

    at_most_s: float = 30.0
    released: threading.Event = field(factory=threading.Event)


class Scripted:
    """Plays steps and keeps what it was asked. Thread-safe."""

    def __init__(self, *steps: Any) -> None:
        self._steps = steps or ((),)
        self._lock = threading.Lock()
        self._hanging: list[Hang] = []
        self.calls: list[tuple[Any, ...]] = []
        self.closed = 0

    def play(self, *arguments: Any) -> Any:
        """The next step's outcome."""
        with self._lock:
            step = self._steps[min(len(self.calls), len(self._steps) - 1)]
            self.calls.append(arguments)
            if isinstance(step, Hang):
                self._hanging.append(step)
        if isinstance(step, Slow):
            threading.Event().wait(step.seconds)
            step = step.value
        elif isinstance(step, Hang):
            step.released.wait(step.at_most_s)
            raise Unavailable("the hang was released")
        if isinstance(step, BaseException) or (isinstance(step, type) and issubclass(step, BaseException)):
            raise step
        return step(*arguments) if callable(step) else step

    def close(self) -> None:
        """Release what hangs."""
        self.closed += 1
        for hang in self._hanging:
            hang.released.set()


# ---- one fake a stage ----------------------------------------------------------------------------


def hits(*urls: str) -> list[SearchHit]:
    """Hits with a title and a snippet made of their URL."""
    return [SearchHit(url=url, title=f"Title of {url}", snippet=f"Snippet of {url}") for url in urls]


class ScriptedEngine(Scripted):
    """A search engine; a step may be a list of hits or of URLs."""

    def search(self, request: SearchRequest) -> Any:
        answer = self.play(request)
        if isinstance(answer, (list, tuple)) and answer and all(isinstance(x, str) for x in answer):
            return hits(*answer)
        return answer


class ScriptedFetcher(Scripted):
    """A fetcher of the pages it is given: URL to Page, text, bytes, exception or callable.

    Any other URL is ``PageError(kind="not_found")``.
    """

    def __init__(self, pages: Mapping[str, Any], content_type: str = "text/html; charset=utf-8") -> None:
        super().__init__(self._answer)
        self._pages = dict(pages)
        self._content_type = content_type

    def fetch(self, request: FetchRequest) -> Any:
        return self.play(request)

    def _answer(self, request: FetchRequest) -> Any:
        if request.url not in self._pages:
            raise PageError(f"{request.url}: no such page", kind="not_found")
        answer = Scripted(self._pages[request.url]).play(request)
        if isinstance(answer, (str, bytes)):
            body = answer.encode() if isinstance(answer, str) else answer
            kind = self._content_type
            return Page(
                url=request.url, final_url=request.url, body=body, content_type=kind,
                headers={"content-type": kind}, fetched_by="scripted",
            )  # fmt: skip
        return answer


class ScriptedExtractor(Scripted):
    """An extractor; without steps the page's text is the document's."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*(steps or (self._plain,)))

    def extract(self, page: Page) -> Any:
        return self.play(page)

    @staticmethod
    def _plain(page: Page) -> Document:
        text = page.body.decode("utf-8", "replace")
        return Document(url=page.final_url or page.url, text=text, title=text.strip().split("\n", 1)[0][:80])


class ScriptedRanker(Scripted):
    """A ranker; without steps a passage's score is the number of the query's words in it."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*(steps or (self._words,)))

    def score(self, query: str, passages: Sequence[str]) -> Any:
        return self.play(query, passages)

    @staticmethod
    def _words(query: str, passages: Sequence[str]) -> list[float]:
        words = set(query.lower().split())
        return [float(len(words & set(passage.lower().split()))) for passage in passages]


class ScriptedCompressor(Scripted):
    """A compressor; without steps it keeps whole chunks from the top while the budget lasts."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*(steps or (self._lead,)))

    def compress(self, query: str, chunks: Sequence[Chunk], budget: int) -> Any:
        return self.play(query, chunks, budget)

    @staticmethod
    def _lead(query: str, chunks: Sequence[Chunk], budget: int) -> list[Chunk]:
        kept: list[Chunk] = []
        for chunk in chunks:
            if len(chunk.text) > budget:
                break
            budget -= len(chunk.text)
            kept.append(chunk)
        return kept


class ScriptedMatcher(Scripted):
    """A query matcher; without steps only an equal text (case and blanks apart) matches."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*(steps or (self._equal,)))

    def match(self, query: str, candidates: Sequence[str]) -> Any:
        return self.play(query, candidates)

    @staticmethod
    def _equal(query: str, candidates: Sequence[str]) -> Match | None:
        wanted = query.lower().split()
        for index, candidate in enumerate(candidates):
            if candidate.lower().split() == wanted:
                return Match(index=index, query=candidate, score=1.0, reason="equal words")
        return None


class ScriptedClassifier(Scripted):
    """A freshness classifier; without steps it is unsure."""

    def __init__(self, *steps: Any) -> None:
        super().__init__(*(steps or (None,)))

    def classify(self, query: str, now: datetime) -> Freshness | None:
        answer: Freshness | None = self.play(query, now)
        return answer


class ScriptedLLM(Scripted):
    """A language model that answers with its steps."""

    def complete(self, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> Any:
        return self.play(messages, schema)


# ---- plugins ---------------------------------------------------------------------------------------


class FakePlugin:
    """A plugin object that declares the providers it is given, by stage."""

    def __init__(self, name: str, providers: Mapping[str, Iterable[Provider[Any]]]) -> None:
        self.name = self.__name__ = name
        for stage, declared in providers.items():
            setattr(self, HOOKS[stage], hookimpl(self._declare(tuple(declared))))

    @staticmethod
    def _declare(providers: tuple[Provider[Any], ...]) -> Callable[[], tuple[Provider[Any], ...]]:
        return lambda: providers


_TRAITS: Mapping[str, Callable[[], Traits]] = {
    "search": lambda: SearchTraits(network=False),
    "fetch": FetchTraits,
    "extract": lambda: ExtractTraits(content_types=("*/*",)),
    "rank": RankTraits,
}


def fake_plugin(stage: str, instance: Any, name: str = "fake", **fields: Any) -> FakePlugin:
    """A plugin with one provider whose ``build`` returns ``instance``.

    Args:
        stage: a stage's name (``search``, ``fetch``, ...).
        name: the name of the provider; the plugin is called ``<stage>_<name>``.
        fields: what else the Provider is to say (``timeout_s``, ``priority``, ``traits``, ...).
    """
    fields.setdefault("traits", _TRAITS.get(stage, Traits)())

    def build(settings: Any, context: PluginContext) -> Any:
        return instance

    return FakePlugin(f"{stage}_{name}", {stage: [Provider(name=name, build=build, **fields)]})
