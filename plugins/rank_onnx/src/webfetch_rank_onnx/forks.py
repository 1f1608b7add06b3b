"""What a forked process makes anew: its parent's threads are not in it, and what they held stays held."""

from __future__ import annotations

import os
from collections.abc import Callable
from weakref import WeakMethod

_methods: list[WeakMethod[Callable[[], None]]] = []


def in_forked_child(method: Callable[[], None]) -> None:
    """Have a bound method called in every process that is forked off this one, while its object lives."""
    _methods[:] = [known for known in _methods if known() is not None]
    _methods.append(WeakMethod(method))


def _after_fork() -> None:
    for known in list(_methods):
        method = known()
        if method is not None:
            method()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
