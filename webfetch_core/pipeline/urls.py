"""When two URLs name one page, and how a URL is shown. Pure; the guard is elsewhere."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, quote, unquote, urlsplit

# Parameters that only say where a click came from. `ref`, `source`, `id` and the like mean
# something on many sites and stay.
_NAMES = (
    "gclid gclsrc dclid gbraid wbraid fbclid msclkid yclid twclid ttclid igshid igsh li_fat_id mc_cid mc_eid "
    "_gl _ga _hsenc _hsmi hsctatracking mkt_tok oly_anon_id oly_enc_id vero_id wickedid s_kwcid ef_id "
    "rb_clickid scid srsltid ref_src ref_url spm cmpid"
)
_TRACKERS = frozenset(_NAMES.split())
_TRACKER_PREFIXES = ("utm_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "at_custom")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_UNRESERVED_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_AMP = re.compile(r"(?<=[^/])/amp\Z|\.amp(?=\.html\Z)|\.amp\Z")
_LONE_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def clean(url: str) -> str:
    """``url`` without tracking parameters; every other byte as it was."""
    before, mark, fragment = url.partition("#")
    base, question, query = before.partition("?")
    if not question:
        return url
    kept = [part for part in query.split("&") if not _is_tracker(part)]
    if len(kept) == query.count("&") + 1:
        return url
    return base + ("?" + "&".join(kept) if kept else "") + mark + fragment


def _is_tracker(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0]).lower()
    return name in _TRACKERS or name.startswith(_TRACKER_PREFIXES)


def canonical(url: str) -> str:
    """The key under which engines' answers for one page meet; not an address to fetch.

    Folds the scheme (http and https), ``www.`` and ``m.``, default ports, case and IDN form of the
    host, trailing slashes, tracking parameters, percent-encoding of unreserved characters, AMP
    variants and fragments. Routes (``#/`` and ``#!``) stay, as do the order and the meaning of all
    other parameters. Idempotent. URLs that cannot be parsed, and schemes other than http(s), are
    returned as they are.
    """
    try:
        parts = urlsplit(clean(url.strip()))
        port = parts.port
    except ValueError:
        return url
    if parts.scheme.lower() not in _DEFAULT_PORTS or not parts.hostname:
        return url
    host = _bare_host(_ascii_host(parts.hostname))
    if port is not None and port not in _DEFAULT_PORTS.values():
        host = f"{host}:{port}"
    path, query = _without_amp(_normal_escapes(parts.path), _normal_escapes(parts.query, safe_query=True))
    fragment = parts.fragment if parts.fragment.startswith(("/", "!")) else ""
    return f"https://{host}{path}" + (f"?{query}" if query else "") + (f"#{fragment}" if fragment else "")


def _ascii_host(host: str) -> str:
    host = host.lower().rstrip(".")
    if not host.isascii():
        try:
            host = host.encode("idna").decode().lower().rstrip(".")
        except UnicodeError:
            return host
    return f"[{host}]" if ":" in host else host


def _bare_host(host: str) -> str:
    for prefix in ("www.", "m.", "mobile.", "amp."):
        rest = host.removeprefix(prefix)
        if rest != host and "." in rest.strip("."):
            return _bare_host(rest)
    return host


def _normal_escapes(text: str, *, safe_query: bool = False) -> str:
    # Non-ASCII is escaped first so that both spellings meet; then needless escapes are undone. A
    # percent sign that escapes nothing is one, so that it cannot join with what is undone behind it.
    safe = "%/:@!$&'()*+,;=~-._?[]|\\^`{}\"<> " if safe_query else "%/:@!$&'()*+,;=~-._"
    escaped = quote(_LONE_PERCENT.sub("%25", text), safe=safe, errors="surrogatepass")
    return _UNRESERVED_ESCAPE.sub(_undo, escaped)


def _undo(match: re.Match[str]) -> str:
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def _without_amp(path: str, query: str) -> tuple[str, str]:
    kept = [p for p in query.split("&") if p and p.lower() not in ("amp", "amp=1", "outputtype=amp")]
    bare = path.rstrip("/")
    while (shorter := _AMP.sub("", bare).rstrip("/")) != bare:
        bare = shorter
    return bare, "&".join(kept)


def unwrap(url: str) -> str | None:
    """The target of a search engine's redirect link, ``url`` itself when it is none, None for an ad.

    A target is a web page: a link that wraps any other scheme is left as it is, so that no engine
    can reach what only this machine's own engines may name.
    """
    absolute = f"https:{url}" if url.startswith("//") else url
    try:
        parts = urlsplit(absolute)
    except ValueError:
        return url
    host = (parts.hostname or "").lower()
    if host == "duckduckgo.com" or host.endswith(".duckduckgo.com"):
        if parts.path == "/y.js":
            return None
        target = parse_qs(parts.query).get("uddg", [""])[0]
        if parts.path == "/l/" and _is_web(target):
            return unwrap(target)
    if host.startswith("www.google.") and parts.path == "/url":
        target = parse_qs(parts.query).get("q", parse_qs(parts.query).get("url", [""]))[0]
        if _is_web(target):
            return unwrap(target)
    return absolute


def _is_web(url: str) -> bool:
    return url[:8].lower().startswith(("http://", "https://"))


def host_of(url: str) -> str:
    """The host to show for ``url``, without ``www.``; the index for ``local:`` URLs."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    if parts.hostname:
        return parts.hostname.removeprefix("www.")
    return f"{parts.scheme}:{parts.path.split('/', 1)[0]}" if parts.scheme else ""


def in_domains(url: str, domains: tuple[str, ...]) -> bool:
    """Whether the host of ``url`` is one of ``domains`` or below one of them."""
    try:
        host = _ascii_host(urlsplit(url).hostname or "")
    except ValueError:
        return False
    wanted = (_ascii_host(d.strip().removeprefix("*.").lstrip(".")) for d in domains)
    return bool(host) and any(d and (host == d or host.endswith("." + d)) for d in wanted)
