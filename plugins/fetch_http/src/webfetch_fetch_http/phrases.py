"""What walls and error pages say, in the languages of most of the web. Apostrophes are plain."""

# ruff: noqa: E501  (one pattern or page a line)

from __future__ import annotations

import re


def _any(*phrases: str, start: bool = False) -> re.Pattern[str]:
    joined = "|".join(phrases)
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
    r"your ip (?:address )?(?:has been|is) (?:temporarily )?blocked",
    r"you have been blocked",
    r"(?:the )?requested url was rejected",
    r"too many requests",
    r"error (?:1005|1006|1009|1010|1012|1015|1020)\b",
    r"enable javascript (?:and cookies )?to (?:continue|proceed)",
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
    r"too many requests\b",
    r"request (?:rejected|blocked)\b",
    r"(?:error )?(?:403|429)(?:\W+(?:forbidden|error|too many requests))?\W*\Z",
    r"forbidden\W*\Z",
    r"(?:you have been )?blocked\W*\Z",
    r"vercel security checkpoint\b",
    r"client challenge\b",
    r"(?:cloudflare )?error (?:1005|1006|1009|1010|1012|1015|1020)\b",
    r"please wait\W{0,3}(?:while we|your request|we are) (?:verify|check)",
    r"captcha\W*\Z",
    start=True,
)
"""The beginning of a bot wall's title."""

LOGIN_TITLE = _any(
    r"(?:please )?(?:log|sign) ?[io]n\b",
    r"(?:member |user |account |customer )?login\b",
    r"single sign-?on\b",
    r"welcome back\b",
    r"(?:sign ?up|register|create (?:an|your) account|join)\b",
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

LOGIN_TO_READ = _any(
    r"(?:must|need to|have to) (?:be )?(?:log(?:ged)?|sign(?:ed)?) ?in (?:to|in order to) (?:view|see|access|read|continue)",
    r"please (?:log|sign) ?in to (?:view|see|access|read|continue)",
    r"(?:content|page|area|section) is (?:for |available to )?(?:registered )?(?:members|users)(?: only)?\W{1,3}please (?:log|sign) ?in",
)
"""The same for the page itself, and not for a reply to it."""

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
    r".{0,30}\bprivacy gate\b",
    r"(?:age (?:verification|gate|check|restricted)|(?:please )?(?:verify|confirm) your age)\b",
    r"are you (?:over|at least|of legal|old enough|1[68]|21)\b.{0,40}",
    start=True,
)
"""The beginning of a consent page's title or heading."""

SUBSCRIBE = _any(
    r"(?:subscribe|sign ?up|register|log ?in|sign ?in|become a (?:member|subscriber)|join)[^.!?]{0,40} to "
    r"(?:continue|keep) reading",
    r"to (?:continue|keep) reading[^.!?]{0,60}(?:subscri|register|sign|log ?in|member)",
    r"(?:subscribe|sign ?up|become a (?:member|subscriber)) to (?:read|unlock|access|see) (?:the|this|all|more)",
    r"(?:this|the) (?:article|story|content|post|page) is (?:only )?"
    r"(?:available |reserved |exclusive(?:ly)? )?(?:for|to) "
    r"(?:paid |paying |our |registered )?(?:subscribers|members)",
    r"already a subscriber\?",
    r"(?:exclusively|only) for (?:our )?subscribers|for subscribers only",
    r"(?:limit of|read (?:all|\d+ of \d+)|out of|no) (?:your )?free articles",
    r"unlock (?:this|the full|the) (?:article|story)",
    r"réservée?s? (?:à nos|aux) abonnés",
    r"il vous reste \d+ ?% de cet article",
    r"abonnez-vous pour (?:lire|continuer)",
    r"(?:nur für|exklusiv für) abonnent",
    r"abonnent(?:en|innen)\b.{0,20} vorbehalten",
    r"jetzt (?:abonnieren|abo abschließen) und weiterlesen",
    r"exclusivo para (?:suscriptores|assinantes)",
    r"(?:solo|sólo) para suscriptores",
    r"suscríbete para (?:seguir leyendo|continuar)",
    r"riservat[oi] (?:agli|ai nostri) abbonati",
    r"abbonati per (?:continuare|leggere)",
    r"alleen voor abonnees",
    r"endast för prenumeranter",
    r"только для подписчиков",
    r"この記事は(?:有料)?会員限定",
)
"""A demand to subscribe for the rest of a text, anywhere in it."""

PRIVACY_TITLE = _any(
    r"(?:your|about your) (?:privacy|data|cookies?)\b",
    r"privacy (?:settings|preferences|notice|overview|cent(?:er|re))\b",
    r"manage (?:your )?(?:cookies?|consent|privacy)\b",
    r"(?:we use|about) cookies\b",
    r"datenschutz-?einstellungen\b",
    r"(?:ihre|deine) (?:privatsphäre|daten)\b",
    r"wir (?:schätzen|respektieren) ihre privatsphäre\b",
    r"mit werbung (?:weiterlesen|und cookies)",
    r"(?:votre vie privée|le respect de votre vie privée|vos données|gestion des cookies|nous respectons votre vie privée)",
    r"(?:tu|su) privacidad\b",
    r"valoramos (?:tu|su) privacidad\b",
    r"(?:la tua privacy|informativa sui cookie|rispettiamo la tua privacy)\b",
    r"(?:jouw|uw|je) privacy\b",
    r"(?:sua privacidade|twoja prywatność|din integritet|dit privatliv|personvernet ditt)\b",
    start=True,
)
"""The beginning of a heading that may be a consent page's, where :data:`ACCEPT` is there too."""

ACCEPT = _any(
    r"\b(?:accept|agree|allow|consent|reject) (?:all|and|to|cookies)",
    r"\bi (?:accept|agree|consent)\b",
    r"\bagree\b.{0,40}\b(?:disagree|manage|options)\b|\bAGREE\b",
    r"(?:alle )?(?:akzeptieren|zustimmen|einverstanden|ablehnen)\b",
    r"tout (?:accepter|refuser)|accepter (?:et|tout|les)",
    r"aceptar (?:todo|todas|y|las|cookies)|rechazar todo",
    r"accett[ao] (?:tutt|e |i )|accetta\b",
    r"(?:alles )?accepteren|akkoord\b",
    r"aceitar (?:tudo|todos|e|cookies)|zaakceptuj|godkänn alla|accepter alle|godta alle",
)
"""The choice that a consent page gives."""
