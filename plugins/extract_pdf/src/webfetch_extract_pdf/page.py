"""One page: from what an engine read to lines and tables in reading order."""

from __future__ import annotations

from attrs import frozen

from .flow import TextLine, flow_of
from .grids import drawn_tables
from .hidden import seen_of
from .layout import in_order
from .legibility import Legibility, judge
from .records import PageContent
from .sheets import sheets_of
from .tables import Table
from .words import lines_of


@frozen(kw_only=True)
class PageText:
    """A page's lines and tables in reading order, and what was found out on the way.

    ``drawn`` says that there are images or shapes, text or not; ``hidden`` counts characters left out.
    """

    number: int
    height: float
    flow: list[TextLine | Table]
    legibility: Legibility
    hidden: int = 0
    scan: bool = False
    drawn: bool = False
    truncated: bool = False
    links: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        return not self.flow


def laid_out(content: PageContent) -> PageText:
    """Arrange a page."""
    seen = seen_of(content)
    flow: list[TextLine | Table] = []
    for sheet in sheets_of(content, seen.chars):
        lines = lines_of(sheet.chars)
        tables, rest = drawn_tables(sheet, lines)
        flow.extend(flow_of(in_order(rest, tables, sheet.across), content.number))
    return PageText(
        number=content.number,
        height=content.height,
        flow=flow,
        legibility=judge(seen.chars),
        hidden=seen.removed,
        scan=seen.scan,
        drawn=bool(content.images or content.across or content.down or content.fills or content.shapes),
        truncated=content.truncated,
        links=tuple(dict.fromkeys(link.url for link in content.links)),
    )
