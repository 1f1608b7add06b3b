"""Entry point: declares the provider ``pdf``."""

from __future__ import annotations

from webfetch_core.api import Extractor, ExtractTraits, Module, PluginContext, Provider, hookimpl

from .settings import ExtractPdfSettings


def build_pdf(settings: ExtractPdfSettings | None, context: PluginContext) -> Extractor:
    """Make the extractor; PDFium is imported here, pdfplumber when a page needs it."""
    from .extractor import PdfExtractor

    return PdfExtractor(settings or ExtractPdfSettings(), context.clock)


@hookimpl
def webfetch_extractors() -> list[Provider[Extractor]]:
    return [
        Provider(
            name="pdf",
            build=build_pdf,
            summary="PDF files: columns, tables, headings; PDFium, and pdfplumber for pages it cannot tell",
            settings=ExtractPdfSettings,
            requires=(
                Module("pypdfium2", install="webfetch-extract-pdf"),
                Module("pdfplumber", install="webfetch-extract-pdf"),
            ),
            traits=ExtractTraits(content_types=("application/pdf", "application/x-pdf"), isolate=True),
            timeout_s=30.0,
            max_concurrency=2,
        )
    ]
