"""Judging what a call ended with: the message names the exception, and what to raise instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from ...errors import ContractViolation, WebfetchError
from ...registry.manager import describe

T = TypeVar("T")
E = TypeVar("E", bound=WebfetchError)


def _named(exc: Exception) -> str:
    """An exception with the module of its class: ``csv.Error`` says more than ``Error``."""
    module = type(exc).__module__
    return describe(exc) if module == "builtins" else f"{module}.{describe(exc)}"


def must_raise(
    kinds: type[E] | tuple[type[E], ...], call: Callable[[], Any], when: str, instead: str = ""
) -> E:
    """The error of ``call()``, which must be one of ``kinds``.

    Args:
        when: in which situation, as in "for status 401".
        instead: what to raise, where ``kinds`` does not say it best.
    """
    __tracebackhide__ = True
    names = instead or " or ".join(k.__name__ for k in (kinds if isinstance(kinds, tuple) else (kinds,)))
    try:
        value = call()
    except kinds as exc:
        return exc
    except Exception as exc:
        raise AssertionError(
            f"{when}, it raised {_named(exc)}; raise {names} of webfetch_core.api instead"
        ) from exc
    raise AssertionError(f"{when}, it returned {value!r:.200}; raise {names} of webfetch_core.api instead")


def value_or_error(call: Callable[[], T], when: str, instead: str) -> T | None:
    """What ``call()`` returns, or None when it raises a clear error: a WebfetchError, but no
    ContractViolation, which is what the core says of a reply that is wrong."""
    __tracebackhide__ = True
    try:
        return call()
    except ContractViolation as exc:
        raise AssertionError(f"{when}, it {exc.message}") from exc
    except WebfetchError:
        return None
    except Exception as exc:
        raise AssertionError(
            f"{when}, it raised {_named(exc)}; {instead} instead. A WebfetchError is an answer; "
            "any other exception is a fault of the plugin, and three in a row bench it"
        ) from exc
