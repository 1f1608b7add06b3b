"""What the endpoints share: the library, the desk, and the seconds that a request has."""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen
from starlette.requests import Request

from webfetch_core import Document, SearchResult, ToolBox, Webfetch

from .asking import Asked, search
from .desk import Desk
from .given import Given
from .settings import HttpSettings

MAX_URLS = 20
"""Pages that one request may ask for, as Tavily and open-webui have it."""


@frozen(kw_only=True)
class Serving:
    """One ``Webfetch`` behind one app. Every method hands its work to a thread and waits for that."""

    wf: Webfetch
    box: ToolBox
    settings: HttpSettings
    desk: Desk

    def search_s(self, wanted: float | None = None) -> float:
        """Seconds for a search: what the client wants, but no more than the server gives."""
        most = min(self.settings.search_deadline_s, self.wf.settings.deadline_s)
        return most if wanted is None else min(max(wanted, 0.5), most)

    def scrape_s(self, wanted: float | None = None) -> float:
        """Seconds for a page."""
        most = self.settings.scrape_deadline_s
        return most if wanted is None else min(max(wanted, 0.5), most)

    async def search(self, asked: Asked, seconds: float | None = None) -> SearchResult:
        """Search. Raises what ``Webfetch.search`` raises, and Fault."""
        return await self.desk.run(lambda left: search(self.wf, asked, left), self.search_s(seconds))

    async def fetch(self, url: str, seconds: float | None = None, *, force_fresh: bool = False) -> Document:
        """Fetch a page, past the guard. Raises what ``Webfetch.fetch`` raises, and Fault."""
        (outcome,) = await self.fetch_all([url], seconds, force_fresh=force_fresh)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    async def fetch_all(
        self, urls: list[str], seconds: float | None = None, *, force_fresh: bool = False
    ) -> list[Document | BaseException]:
        """Fetch pages side by side; each comes to a document or to what went wrong."""

        def job(url: str) -> Callable[[float], Document]:
            return lambda left: self.wf.fetch(url, force_fresh=force_fresh, deadline_s=left)

        return await self.desk.run_all([job(url) for url in urls], self.scrape_s(seconds))


async def json_of(request: Request) -> Given:
    """The fields of a request's JSON body. Raises Fault where it is none."""
    return Given.of_json(await request.body())


def query_given(request: Request) -> Given:
    """The fields of a request's query string."""
    return Given.of_form(request.scope.get("query_string", b""))
