"""What walls and error pages say, in the languages of most of the web. Apostrophes are plain."""

from __future__ import annotations

import re


def _any(*phrases: str, start: bool = False, whole: bool = False) -> re.Pattern[str]:
    joined = "|".join(phrases)
    if whole:
        return re.compile(rf"\W*(?:{joined})\W*\Z", re.I)
    return re.compile(rf"\W*(?:{joined})" if start else joined, re.I)


HUMAN = _any(
    r"not a robot",
    r"are (?:a )?human",
    r"you're (?:a )?human",
    r"unusual traffic",
    r"automated (?:requests|access|queries|traffic)",
    r"complete the (?:captcha|security check)",
    r"verify(?:ing)? (?:that )?you",
    r"checking your browser",
    r"suspicious activity",
    r"enter the characters",
    r"kein roboter",
    r"pas un robot",
    r"no (?:eres|soy) un robot",
    r"non sono un robot",
)
"""A demand to prove to be human, anywhere in a text."""

WALL_TITLE = _any(
    r"just a moment\b",
    r"attention required\b",
    r"pardon our interruption\b",
    r"access (?:to this page has been )?denied\b",
    r"robot check\b",
    r"are you (?:a )?(?:robot|human)\b",
    r"security check(?:point)?\b",
    r"human verification\b",
    r"bot (?:check|verification)\b",
    r"verify(?:ing)? (?:that )?you(?:'| a)re (?:a )?human\b",
    r"one more step\b",
    r"ddos-guard\b",
    r"making sure you're not a bot\b",
    r"captcha\W*\Z",
    start=True,
)
"""The beginning of a bot wall's title."""

GONE = _any(
    r"page (?:not found|doesn't exist|(?:does not|no longer) exists?|(?:is )?(?:missing|unavailable|gone))",
    r"page (?:cannot|can't|could not|couldn't) be found",
    r"not found",
    r"404",
    r"(?:http )?(?:error )?404(?: error)?(?:[ (:,.\u2013-]{0,3}(?:page )?not found\)?)?",
    r"(?:sorry|oops|uh-?oh)\W.{0,40}(?:not found|can(?:no|')t find|couldn't find|doesn't exist).{0,40}",
    r"(?:we )?(?:can(?:no|')t|couldn't|could not) find (?:that|this|the) page.{0,60}",
    r"(?:this|that|the) page (?:isn't available|could not be found|was not found).{0,40}",
    r"seite (?:wurde )?nicht gefunden",
    r"page (?:introuvable|non trouvée)",
    r"página no (?:encontrada|existe)",
    r"página não encontrada",
    r"pagina (?:non trovata|niet gevonden)",
    r"sidan (?:kunde inte hittas|hittades inte)",
    r"strona nie (?:została znaleziona|istnieje)",
    r"nie znaleziono strony",
    r"страница не найдена",
    r"ページが見つかりません.{0,20}",
    r"页面(?:不存在|未找到)",
    r"找不到(?:该)?页面",
    r"페이지를 찾을 수 없.{0,20}",
    whole=True,
)
"""The whole of a title or heading of a page that does not exist."""

LOGIN_TITLE = _any(
    r"(?:please )?(?:log|sign) ?[io]n\b",
    r"anmelden\b",
    r"einloggen\b",
    r"se connecter\b",
    r"connexion\b",
    r"connectez-vous\b",
    r"inici(?:ar|a) sesión\b",
    r"accedi\b",
    r"inloggen\b",
    r"logga in\b",
    r"zaloguj\b",
    r"вход\b",
    r"войти\b",
    r"ログイン",
    r"登[录入]",
    r"로그인",
    start=True,
)
"""The beginning of a login page's title or heading."""

LOGIN_TEXT = _any(
    r"(?:must|need to|have to|please) (?:be )?(?:log(?:ged)?|sign(?:ed)?) ?in\b",
    r"(?:log|sign) ?in (?:to|and) (?:continue|view|see|access|read)",
    r"members? only",
)
"""A demand to log in, anywhere in a text."""

CONSENT_TITLE = _any(
    r"before you continue\b",
    r"cookie (?:consent|preferences|settings)\b",
    r"your privacy (?:choices|matters)\b",
    r"we value your privacy\b",
    r"your data, your (?:choice|experience)\b",
    r"bevor sie (?:fortfahren|zu)\b",
    r"avant (?:de continuer|d'accéder)\b",
    r"antes de continuar\b",
    r"prima di continuare\b",
    r"voordat je verdergaat\b",
    r".{0,20}\bis part of the .{0,20}family of brands",
    start=True,
)
"""The beginning of a consent page's title or heading."""
