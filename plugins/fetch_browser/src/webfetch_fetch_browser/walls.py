"""Bot walls as a browser sees them: after their scripts have run. Pure.

Conservative: a wall is small. An article about walls is not, and neither is a page with a captcha in a form
at its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

_WALL_CHARS = 1_500
_TITLE_CHARS = 600

_TITLES = re.compile(
    r"\W*(?:just a moment\b|attention required\b|pardon our interruption\b|robot check\b"
    r"|access (?:to this page has been )?denied\b|are you (?:a )?(?:robot|human)\b|one more step\b"
    r"|security check(?:point)?\b|human verification\b|(?:bot )?verification required\b"
    r"|verify(?:ing)? (?:that )?you|checking your browser\b|ddos-guard\b|making sure you|captcha\W*\Z)",
    re.IGNORECASE,
)
_DEMANDS = re.compile(
    r"not a robot|you(?:'| a)re (?:a )?human|are (?:a )?human|unusual traffic"
    r"|automated (?:requests|access|queries|traffic)|checking your browser|complete the (?:captcha|security)"
    r"|verify(?:ing)? (?:that )?you|enable javascript and cookies to continue|press (?:&|and) hold",
    re.IGNORECASE,
)
# Each: what a vendor's challenge leaves in the document.
_MARKS = re.compile(
    r"/cdn-cgi/challenge-platform/\S*orchestrate|challenge-(?:form|running|stage|error-text)|cf-challenge"
    r"|captcha-delivery\.com|px-captcha|_incapsula_resource|awswaf|/_sec/cp_challenge/|kpsdk"
    r"|\.well-known/sgcaptcha|anubis_(?:challenge|version)|ddos-guard",
    re.IGNORECASE,
)
_WIDGETS = re.compile(
    r"g-recaptcha|h-captcha|hcaptcha\.com|cf-turnstile|challenges\.cloudflare\.com|recaptcha/|arkoselabs",
    re.IGNORECASE,
)


@frozen(kw_only=True)
class Outline:
    """Attributes:
    title: of the document.
    heading: of its first h1 or h2.
    text: the beginning of its visible text; ``chars`` is the length of all of it.
    marks: addresses, ids and classes of what might be a challenge's.
    """

    title: str = ""
    heading: str = ""
    text: str = ""
    chars: int = 0
    marks: str = ""


def is_wall(page: Outline, headers: Mapping[str, str]) -> bool:
    """Whether the page is a bot wall; ``headers`` of its reply, names in lower case."""
    if page.chars > _WALL_CHARS:
        return False
    if headers.get("cf-mitigated", "").lower() == "challenge":
        return True
    if headers.get("x-amzn-waf-action", "").lower() in ("captcha", "challenge"):
        return True
    text = page.text.replace("\u2019", "'")
    demanded = bool(_DEMANDS.search(text))
    titled = bool(_TITLES.match(page.title) or _TITLES.match(page.heading))
    if titled and (demanded or page.chars < _TITLE_CHARS):
        return True
    marked = bool(_MARKS.search(page.marks))
    return (marked and page.chars < _TITLE_CHARS) or (
        demanded and (marked or bool(_WIDGETS.search(page.marks)))
    )
