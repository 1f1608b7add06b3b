"""A document's Markdown as HTML or as plain text, for ``webfetch fetch --format``.

The parser is markdown-it-py, of the extra ``webfetch-core[formats]``; nothing here loads before it is
asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from .parser import UsageFault

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_RTL = frozenset({"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi"})
_BREAKS = frozenset({"softbreak", "hardbreak"})
_LISTS = frozenset({"bullet_list", "ordered_list"})
_VERBATIM = frozenset({"fence", "code_block", "math_block"})


def require() -> None:
    """Raises UsageFault when the parser is not installed."""
    _parser()


def to_html(markdown: str, *, title: str = "", url: str = "", language: str = "") -> str:
    """Return a whole HTML document.

    Tags that the text spells are shown, not obeyed; links with a scheme that could run a script stay
    text; nothing is loaded from anywhere.

    Raises:
        UsageFault: markdown-it-py is not installed.
    """
    return _page(str(_parser().render(markdown)), title, url, language)


def plain_to_html(text: str, *, title: str = "", url: str = "", language: str = "") -> str:
    """Return a whole HTML document that shows ``text`` as it is, line by line."""
    return _page(f"<pre>{escape(text)}</pre>", title, url, language)


def _page(body: str, title: str, url: str, language: str) -> str:
    direction = ' dir="rtl"' if language.split("-")[0].lower() in _RTL else ""
    named = f' lang="{escape(language)}"' if language else ""
    head = ['<meta charset="utf-8">', f"<title>{escape(title or url)}</title>"]
    if url.startswith(("http://", "https://")):
        head.append(f'<link rel="canonical" href="{escape(url)}">')
    return "\n".join(
        [
            "<!doctype html>",
            f"<html{named}{direction}>",
            "<head>",
            *head,
            "</head>",
            "<body>",
            body.rstrip("\n"),
            "</body>",
            "</html>",
        ]
    )


def to_text(markdown: str) -> str:
    """Return the words without the marks: one paragraph, item, row or line of code a line, blocks a
    blank line apart, the cells of a row with tabs between them.

    Raises:
        UsageFault: markdown-it-py is not installed.
    """
    return _PlainText().write(_parser().parse(markdown))


class _PlainText:
    """Writes a run of tokens; what it keeps is where in lists and tables it stands."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.lines: list[str] = []  # of the outermost list or table, whose lines stand together
        self.depth = 0
        self.numbers: list[int | None] = []  # of each open list: its next number
        self.mark = ""  # of an item that has no line yet
        self.in_cell = False

    def write(self, tokens: Sequence[Token]) -> str:
        for token in tokens:
            name, _, edge = token.type.rpartition("_")
            if name in _LISTS or name in ("table", "dl"):
                self._group(token, name, opens=edge == "open")
            elif token.type == "list_item_open":
                self._item()
            elif token.type == "tr_open":
                self.lines.append("")
                self.in_cell = False
            elif token.type in ("th_open", "td_open"):
                self.lines[-1] += "\t" if self.in_cell else ""
                self.in_cell = True
            elif token.type == "tr_close":
                self.in_cell = False
            elif token.type == "inline":
                self._text("".join("\n" if t.type in _BREAKS else t.content for t in token.children or ()))
            elif token.type in _VERBATIM:
                self._text(token.content.rstrip("\n"))
        return "\n\n".join(block for block in self.blocks if block)

    def _group(self, token: Token, name: str, *, opens: bool) -> None:
        self.depth += 1 if opens else -1
        if name in _LISTS:
            if opens:
                self.numbers.append(int(token.attrGet("start") or 1) if name == "ordered_list" else None)
            else:
                self.numbers.pop()
        if self.depth == 0:
            self.blocks.append("\n".join(self.lines))
            self.lines = []

    def _item(self) -> None:
        number = self.numbers[-1]
        self.mark = "  " * (len(self.numbers) - 1) + ("- " if number is None else f"{number}. ")
        self.numbers[-1] = None if number is None else number + 1

    def _text(self, text: str) -> None:
        if self.in_cell:
            self.lines[-1] += text.replace("\n", " ")
        elif not self.depth:
            self.blocks.append(text)
        else:
            indent = " " * len(self.mark) if self.mark else "  " * len(self.numbers)
            first, *more = text.split("\n")
            self.lines += [(self.mark or indent) + first, *(indent + line for line in more)]
            self.mark = ""


def _parser() -> MarkdownIt:
    try:
        from markdown_it import MarkdownIt
        from mdit_py_plugins.deflist import deflist_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin
    except ImportError as exc:
        raise UsageFault(
            f"the formats html and text need {exc.name or 'markdown-it-py'}",
            fix="pip install markdown-it-py mdit-py-plugins",
        ) from exc
    # Images would be loaded by whoever opens the file, and tell its sender so.
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return parser.use(deflist_plugin).use(dollarmath_plugin, allow_space=False, allow_digits=False)
