from __future__ import annotations

import subprocess
import sys

from webfetch_core.api import Page
from webfetch_core.testing.contracts import ExtractorContract

BODY = b"""%PDF-1.4
1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
2 0 obj << /Type /Pages /Kids [3 0 R] /Count 1 >> endobj
3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R
 /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >> endobj
4 0 obj << /Length 112 >> stream
BT /F1 16 Tf 60 780 Td (The lighthouse of Tarn) Tj
/F1 10 Tf 0 -40 Td (It is 41 metres high, built 1887.) Tj ET
endstream endobj
trailer << /Root 1 0 R >>
"""


class TestPdf(ExtractorContract):
    plugin = "webfetch_extract_pdf.plugin"
    provider = "pdf"
    page = Page(
        url="https://tarn.example/lighthouse.pdf",
        final_url="https://tarn.example/lighthouse.pdf",
        body=BODY,
        content_type="application/pdf",
    )
    title = "lighthouse of Tarn"


def test_the_plugin_imports_nothing_heavy() -> None:
    code = (
        "import sys, webfetch_extract_pdf.plugin as p; p.webfetch_extractors();"
        "print([m for m in ('pypdfium2', 'pdfplumber', 'pdfminer', 'PIL') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
