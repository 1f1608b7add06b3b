"""What can go wrong, as one tree of exceptions.

Every error has a ``kind`` (one word of a fixed vocabulary, the same in attempts, JSON and
tests), a message that names what was wrong, and, where there is one, a ``fix`` that says what
to do about it. Plugins raise :class:`ProviderError` and its subclasses; anything else that
leaves a plugin is a fault of that plugin and is reported as ``plugin_error``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from .models import Attempt


MAX_MESSAGE_CHARS = 8_000
"""A longer message is cut: it goes into attempts, logs and JSON as it is."""
_UNTELLABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def tellable(text: Any) -> str:
    """``text`` as it can be shown and encoded: messages quote what strangers sent. Controls and lone
    surrogates become U+FFFD, and what is longer than ``MAX_MESSAGE_CHARS`` is cut."""
    plain = str.__str__(text) if isinstance(text, str) else str(text)
    if len(plain) > MAX_MESSAGE_CHARS:
        plain = plain[:MAX_MESSAGE_CHARS] + "..."
    return _UNTELLABLE.sub("\ufffd", plain)


class WebfetchError(Exception):
    """Base of every error that webfetch raises on purpose."""

    default_kind: ClassVar[str] = "error"

    def __init__(self, message: str, *, kind: str | None = None, fix: str = "") -> None:
        self.message = tellable(message)
        super().__init__(self.message)
        self.kind = kind or self.default_kind
        self.fix = tellable(fix)

    def __str__(self) -> str:
        return f"{self.message} ({self.fix})" if self.fix else self.message


# ---- the host's side: raised by the library to its caller -------------------------------------


class ConfigError(WebfetchError):
    """A setting is wrong, unknown, or names something that is not installed."""

    default_kind = "config"


class BadQuery(WebfetchError):
    """The query is empty or cannot be served as it stands."""

    default_kind = "bad_query"


class AllEnginesFailed(WebfetchError):
    """No engine answered. ``attempts`` has every engine with its own reason, first choice first."""

    default_kind = "no_engine"

    def __init__(self, message: str, attempts: Iterable[Attempt] = (), *, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.attempts = tuple(attempts)


class CacheError(WebfetchError):
    """The cache cannot be used: damaged, full, read-only, or of another format."""

    default_kind = "cache_error"


class Cancelled(WebfetchError):
    """The host closed down or the caller cancelled while the work was under way."""

    default_kind = "cancelled"


# ---- the plugins' side -------------------------------------------------------------------------


class NotConfigured(WebfetchError):
    """A provider declines: a key, a module or a service that it needs is not there.

    Declining is not failing: it never counts against the breaker.
    """

    default_kind = "not_configured"


class Refused(WebfetchError):
    """The guard or a veto hook refused this URL. Never counts against a breaker."""

    default_kind = "refused"


class ProviderError(WebfetchError):
    """A provider could not do what was asked. Subclasses say why.

    Args:
        retry_after_s: when the other side said to come back, in seconds from now; it is left alone
            until then.
        status: the HTTP status of the reply that says so, if it was one.
        body: the reply's body, for adapters whose statuses do not tell all.
    """

    default_kind = "plugin_error"

    def __init__(
        self,
        message: str,
        *,
        kind: str | None = None,
        fix: str = "",
        retry_after_s: float | None = None,
        status: int | None = None,
        body: bytes = b"",
    ) -> None:
        super().__init__(message, kind=kind, fix=fix)
        self.retry_after_s = retry_after_s
        self.status = status
        self.body = body


class Unavailable(ProviderError):
    """The other side cannot be reached or answered with a server error."""

    default_kind = "unavailable"


class TimedOut(ProviderError):
    """Not finished by the deadline."""

    default_kind = "timeout"


class Busy(ProviderError):
    """Every slot of the provider is still taken by earlier calls."""

    default_kind = "busy"


class Benched(ProviderError):
    """The provider's circuit breaker is open; no call was made."""

    default_kind = "benched"


class Blocked(ProviderError):
    """A bot wall, CAPTCHA or challenge answered instead of the service."""

    default_kind = "blocked"


class RateLimited(ProviderError):
    """Too many requests for the moment."""

    default_kind = "rate_limited"


class QuotaExceeded(ProviderError):
    """The plan or the credit of the key is used up."""

    default_kind = "quota"


class AuthFailed(ProviderError):
    """The key is missing, wrong or not allowed."""

    default_kind = "auth"


class BadResponse(ProviderError):
    """The answer is not what the wire format promises (truncated JSON, other layout, HTML)."""

    default_kind = "bad_response"


class PageError(ProviderError):
    """A page that is no content: says something of the page, nothing of the fetcher.

    ``kind`` is one of ``not_found login consent paywall empty too_large bad_encoding
    unsupported_type redirect_loop encrypted no_text_layer``.
    """

    default_kind = "empty"


class ContractViolation(ProviderError):
    """A plugin returned something that its protocol does not allow."""

    default_kind = "plugin_error"


_PAGE_STAGES = frozenset({"fetch", "extract"})
_NO_FAULT = (NotConfigured, Refused, Busy, Benched, BadQuery, PageError, Cancelled)


def counts_against_breaker(stage: str, error: BaseException) -> bool:
    """Whether ``error`` says that the *provider* is unwell.

    A page that is missing, slow or walled says nothing of the fetcher that tried it, so in the
    page stages only unexpected exceptions and broken contracts count.
    """
    if isinstance(error, _NO_FAULT):
        return False
    if stage in _PAGE_STAGES:
        return isinstance(error, ContractViolation) or not isinstance(error, WebfetchError)
    return True


_COOL_DOWN_S: dict[type[ProviderError], float] = {
    RateLimited: 10.0,  # the window of a per-second or per-minute plan that does not say its own
    Blocked: 600.0,  # bot walls last tens of minutes, and every further try prolongs them
    QuotaExceeded: 3_600.0,
    AuthFailed: 3_600.0,  # the key is the same for as long as this process lives
}


def cool_down_s(error: BaseException) -> float | None:
    """How long its provider is left alone after ``error``, at once and without further tries.

    None leaves it to the breaker's count of failures.
    """
    if not isinstance(error, ProviderError):
        return None
    if error.retry_after_s is not None:
        return error.retry_after_s
    return next((s for kind, s in _COOL_DOWN_S.items() if isinstance(error, kind)), None)
