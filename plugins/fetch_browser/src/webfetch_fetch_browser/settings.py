"""The table ``[plugins.fetch_browser]``."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen
from attrs.validators import ge, gt, in_, le


def _one_line(_: Any, attribute: Any, value: str) -> None:
    if not value.isprintable() or not value.isascii():
        raise ValueError(f"'{attribute.name}' must be one line of plain ASCII text; got {value!r}")


@frozen(kw_only=True)
class FetchBrowserSettings:
    """How pages are rendered.

    Attributes:
        executable_path: the browser to start; empty means playwright's own, else a Chromium or Chrome
            on the PATH.
        sandbox: ``auto`` is on, except for root, whom Chromium gives none; ``on`` or ``off``.
        user_agent: the agent string; empty means the browser's own without the word "Headless".
        locale: of the pages, as in ``en-US``; it sets Accept-Language.
        tabs: pages that are open at a time.
        max_bytes: of a rendered page.
        max_load_bytes: what one page may load in all, scripts and data included.
        settle_s: how long a page may go on changing before it is taken as it is; the deadline of the
            fetch may be nearer.
        pages_per_browser: after so many pages a new browser takes over.
        idle_s: a browser without work is ended after this.
    """

    executable_path: str = ""
    sandbox: str = field(default="auto", validator=in_(("auto", "on", "off")))
    user_agent: str = field(default="", validator=_one_line)
    locale: str = field(default="en-US", validator=_one_line)
    tabs: int = field(default=2, validator=[ge(1), le(16)])
    max_bytes: int = field(default=8 * 1024 * 1024, validator=gt(0))
    max_load_bytes: int = field(default=48 * 1024 * 1024, validator=gt(0))
    settle_s: float = field(default=5.0, validator=gt(0))
    pages_per_browser: int = field(default=1000, validator=ge(1))
    idle_s: float = field(default=600.0, validator=gt(0))
