"""Contract tests stay in force: replacing one takes a reason that a reader can find."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_KIT = __name__.rpartition(".")[0]
_REASON = "__overrides_contract__"


def overrides_contract(reason: str) -> Callable[[F], F]:
    """Allow the decorated test to replace one of the contract; ``reason`` says why it may.

    Raises:
        ValueError: the reason is blank.
    """
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError("overrides_contract needs a reason: what is different about this plugin?")

    def mark(function: F) -> F:
        setattr(function, _REASON, reason)
        return function

    return mark


def silent_overrides(cls: type) -> Iterator[str]:
    """Names of contract tests that ``cls`` or a mixin of it replaces without saying why."""
    in_kit = [c for c in cls.__mro__ if _of_kit(c)]
    names = {name for c in in_kit for name in vars(c) if name.startswith("test_")}
    for name in sorted(names):
        owner = next(c for c in cls.__mro__ if name in vars(c))
        if not _of_kit(owner) and not getattr(vars(owner)[name], _REASON, ""):
            yield name


def _of_kit(cls: type) -> bool:
    return cls.__module__ == _KIT or cls.__module__.startswith(f"{_KIT}.")


def is_overridden(cls: type, name: str) -> bool:
    """Whether a class or a mixin outside of the kit gives ``cls`` the member ``name``."""
    return not _of_kit(next(c for c in cls.__mro__ if name in vars(c)))


class Guarded:
    """Refuses subclasses that replace or remove a contract test silently."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        replaced = list(silent_overrides(cls))
        if replaced:
            raise TypeError(
                f"{cls.__name__} replaces {', '.join(replaced)} of its contract without a reason: "
                'decorate the replacement with @overrides_contract("why this plugin may differ")'
            )

    def test_contract_is_whole(self) -> None:
        """No contract test was replaced after the class was made."""
        replaced = list(silent_overrides(type(self)))
        assert not replaced, f"replaced without @overrides_contract: {', '.join(replaced)}"
