"""One page: from what an engine read to lines and tables in reading order."""

from __future__ import annotations

from attrs import frozen

from .flow import TextLine, flow_of
from .grids import drawn_tables
from .hidden import seen_of
from .layout import in_order
from .legibility import Legibility, judge
from .lettering import clean
from .records import PageContent
from .sheets import sheets_of
from .tables import Table
from .words import lines_of


@frozen(kw_only=True)
class PageText:
    """A page's lines and tables in reading order, and what was found out on the way.

    ``drawn`` says that there are images or shapes, text or not; ``hidden`` counts characters left out;
    ``mute`` says that text is drawn of which no character was read.
    """

    number: int
    height: float
    flow: list[TextLine | Table]
    legibility: Legibility
    hidden: int = 0
    scan: bool = False
    drawn: bool = False
    images: int = 0
    mute: bool = False
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
    flow.extend(_note(text, content, place) for place, text in enumerate(content.notes))
    return PageText(
        number=content.number,
        height=content.height,
        flow=flow,
        legibility=judge(seen.chars),
        hidden=seen.removed,
        scan=seen.scan,
        images=len(content.images),
        mute=content.texts > 0 and not content.chars,
        drawn=bool(content.images or content.across or content.down or content.fills or content.shapes),
        truncated=content.truncated,
        links=tuple(dict.fromkeys(link.url for link in content.links)),
    )


def _note(text: str, content: PageContent, place: int) -> TextLine:
    """The value of a form field as a line of its own, in the order of the fields."""
    return TextLine(
        text=clean(" ".join(text.split())),
        x0=0.0,
        x1=content.width,
        base=content.height / 2 + 20.0 * place,
        size=10.0,
        bold=False,
        mono=False,
        first_width=0.0,
        left=0.0,
        right=content.width,
        column=-2 - place,
        page=content.number,
    )
