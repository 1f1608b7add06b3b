"""Entry point: declares the providers ``html`` and ``text``."""

from __future__ import annotations

from webfetch_core.api import Extractor, ExtractTraits, PluginContext, Provider, hookimpl

from .settings import ExtractHtmlSettings


def build_html(settings: ExtractHtmlSettings | None, context: PluginContext) -> Extractor:
    """Make the extractor of web pages; lxml, trafilatura and readability are imported here."""
    from .html import HtmlExtractor

    return HtmlExtractor(settings or ExtractHtmlSettings())


def build_text(settings: ExtractHtmlSettings | None, context: PluginContext) -> Extractor:
    """Make the extractor of everything else that is text."""
    from .text import TextExtractor

    return TextExtractor(settings or ExtractHtmlSettings())


@hookimpl
def webfetch_extractors() -> list[Provider[Extractor]]:
    return [
        Provider(
            name="html",
            build=build_html,
            summary="web pages: a classifier of blocks, with trafilatura and readability beside it",
            settings=ExtractHtmlSettings,
            traits=ExtractTraits(content_types=("text/html", "application/xhtml+xml")),
            timeout_s=15.0,
        ),
        Provider(
            name="text",
            build=build_text,
            summary="plain text, Markdown, JSON, XML, RSS, Atom and CSV",
            settings=ExtractHtmlSettings,
            traits=ExtractTraits(
                content_types=(
                    "text/plain",
                    "text/markdown",
                    "text/x-markdown",
                    "text/csv",
                    "text/tab-separated-values",
                    "text/xml",
                    "application/json",
                    "application/ld+json",
                    "application/feed+json",
                    "application/xml",
                    "application/rss+xml",
                    "application/atom+xml",
                    "application/rdf+xml",
                )
            ),
            timeout_s=15.0,
        ),
    ]
