"""What holds for a provider of any stage: how it is declared, imported, built and closed."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import monotonic
from types import ModuleType
from typing import Any, ClassVar

import attrs
import pytest

from ...providers import Provider, Traits
from ...registry.catalog import HOOKS
from ...requirements import EnvKey
from ...settings_load import structure
from ..context import FakeContext
from . import inputs, side_effects
from .guard import Guarded, overrides_contract

__all__ = ["CANARY", "ProviderContract", "concurrently", "overrides_contract"]

CANARY = "canary-5f1e9c-not-a-key"
"""Stands for a secret; it must never be seen in an error."""
BUILD_LIMIT_S = 5.0


def concurrently(threads: int, work: Callable[[], Any]) -> list[Any]:
    """Run ``work`` in several threads that start together; return the results or raise the first error."""
    barrier = threading.Barrier(threads)
    outcomes: list[Any] = []

    def body() -> None:
        barrier.wait()
        try:
            outcomes.append(work())
        except BaseException as exc:
            outcomes.append(exc)

    running = [threading.Thread(target=body, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(30)
    assert len(outcomes) == threads, "a concurrent call did not return within 30 s"
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return outcomes


def _lacking(built: Any, protocol: type) -> list[str]:
    """The public members of ``protocol`` that an object does not have."""
    members = [n for n in (*vars(protocol), *vars(protocol).get("__annotations__", {})) if n[0] != "_"]
    return sorted({name for name in members if not hasattr(built, name)})


class ProviderContract(Guarded):
    """Set ``plugin`` (module name, module or object) and ``provider`` (the name that it declares).

    Attributes that are missing or of a wrong type fail the first test of the class and skip the others.
    """

    INPUTS: ClassVar[Mapping[str, inputs.Input]] = {
        "plugin": inputs.Input(
            "the plugin's module, its name, or an object with hooks (of a class, an instance)",
            inputs.is_plugin,
            'the module that the entry point names, as in plugin = "webfetch_search_mine"',
        ),
        "provider": inputs.Input(
            "a string that is not blank", inputs.is_text, "the name that the Provider is declared with"
        ),
        "settings": inputs.Input(
            "a mapping of settings by name",
            lambda v: isinstance(v, Mapping) and all(isinstance(k, str) for k in v),
        ),
        "environ": inputs.Input(
            "a mapping of strings to strings",
            lambda v: isinstance(v, Mapping) and all(isinstance(x, str) for kv in v.items() for x in kv),
        ),
    }
    """What each attribute must be; a class adds its own to those of its bases."""

    plugin: ClassVar[Any] = None
    provider: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    """The table ``[plugins.<plugin>]``."""
    environ: ClassVar[Mapping[str, str]] = {}
    """Environment beside the keys that ``requires`` names; those are set to a canary."""

    _wrong_inputs: ClassVar[list[str]]

    stage: ClassVar[str] = ""
    protocol: ClassVar[type] = object
    traits_type: ClassVar[type] = Traits

    # ---- fixtures, free to override --------------------------------------------------------------

    @pytest.fixture(autouse=True)
    def _inputs_are_right(self) -> None:
        """Says what is wrong with the class once, instead of as many obscure failures as it has tests."""
        cls = type(self)
        wrong = vars(cls).get("_wrong_inputs")
        if wrong is not None:
            pytest.skip(f"the inputs of {cls.__name__} are wrong: see its first test")
        found = list(self.input_problems())
        if found:
            cls._wrong_inputs = found
            pytest.fail("; ".join(f"{cls.__name__}.{problem}" for problem in found), pytrace=False)

    @pytest.fixture
    def declared(self) -> Provider[Any]:
        """The provider under test, as its plugin declares it."""
        return self.find_provider()

    @pytest.fixture
    def context(self, tmp_path: Path) -> FakeContext:
        """What the provider is built with."""
        return self.make_context(tmp_path)

    @pytest.fixture
    def subject(self, declared: Provider[Any], context: FakeContext) -> Iterator[Any]:
        """The built object, closed after the test."""
        built = self.build(declared, context)
        yield built
        close = getattr(built, "close", None)
        if callable(close):
            close()

    # ---- for fixtures and tests of subclasses ------------------------------------------------------

    def input_problems(self) -> Iterator[str]:
        """What is wrong with the attributes of this class; each names its attribute first."""
        yield from inputs.problems(self)

    def loaded_plugin(self) -> Any:
        """The plugin module or object."""
        assert self.plugin is not None, f"{type(self).__name__} must set plugin"
        if not isinstance(self.plugin, str):
            return self.plugin
        try:
            return importlib.import_module(self.plugin)
        except ModuleNotFoundError as exc:
            if exc.name is None or not f"{self.plugin}.".startswith(f"{exc.name}."):
                raise  # the plugin is there; what it imports is not
            raise AssertionError(
                f"plugin: there is no module {self.plugin}: install the project that is tested "
                "(pip install -e .), or correct the name"
            ) from exc

    def find_provider(self) -> Provider[Any]:
        """The provider called ``self.provider``, as its hook declares it."""
        hook = getattr(self.loaded_plugin(), HOOKS[self.stage], None)
        assert hook is not None, (
            f"the plugin does not implement {HOOKS[self.stage]}: {self._contract_name()} is for that hook"
        )
        rows = list(hook())
        named = [row for row in rows if getattr(row, "name", None) == self.provider]
        assert named, (
            f"no provider {self.provider!r} among {[getattr(r, 'name', r) for r in rows]}, "
            f"which {HOOKS[self.stage]} declares"
        )
        assert len(named) == 1, f"{HOOKS[self.stage]} declares {self.provider!r} {len(named)} times"
        found: Provider[Any] = named[0]
        return found

    def _contract_name(self) -> str:
        return next(c.__name__ for c in type(self).__mro__ if c.__module__.startswith(__package__ or "?"))

    def make_context(self, folder: Path) -> FakeContext:
        """A context with the keys that the provider requires, all of them canaries."""
        from ...runtime.models import ModelStore

        keys = dict.fromkeys(self._key_names(), CANARY)
        return FakeContext(
            self.plugin_name(),
            environ={"PATH": os.environ.get("PATH", ""), **keys, **self.environ},
            data_dir=folder / "data",
            models=ModelStore({}, folder),
        )

    def _key_names(self) -> list[str]:
        return [r.name for r in self.find_provider().requires if isinstance(r, EnvKey)]

    def _keys(self) -> list[str]:
        """Values that must not be seen: empty for a provider without keys."""
        return [CANARY] if self._key_names() else []

    def plugin_name(self) -> str:
        """The plugin's name by the naming rule (``webfetch_search_x.plugin`` is ``search_x``)."""
        name = getattr(self.loaded_plugin(), "__name__", "test")
        return str(name).partition(".")[0].removeprefix("webfetch_")

    def make_settings(self, declared: Provider[Any], **extra: Any) -> Any:
        """The settings object, made as the core makes it."""
        if declared.settings is None:
            return None
        return structure(declared.settings, {**self.settings, **extra}, path="settings")

    def build(self, declared: Provider[Any], context: FakeContext, **settings: Any) -> Any:
        """Build the provider with the settings of the class and ``settings`` over them."""
        context.settings = self.make_settings(declared, **settings)
        return declared.build(context.settings, context)

    # ---- the contract ------------------------------------------------------------------------------

    def test_declares_a_provider(self, declared: Provider[Any]) -> None:
        assert isinstance(declared, Provider), f"declares a {type(declared).__name__}, not a Provider"
        assert declared.summary.strip(), "a provider has a one-line summary for `webfetch plugins`"
        assert "\n" not in declared.summary, "the summary is one line"
        if declared.traits is not None:
            assert isinstance(declared.traits, self.traits_type), (
                f"the traits of a {self.stage} provider are {self.traits_type.__name__}, "
                f"not {type(declared.traits).__name__}"
            )

    def test_declaring_is_repeatable(self) -> None:
        first, second = self.find_provider(), self.find_provider()
        assert (first.name, first.priority, first.requires) == (second.name, second.priority, second.requires)

    def test_import_is_light_and_leaves_no_trace(self) -> None:
        plugin = self.loaded_plugin()
        if not isinstance(plugin, ModuleType):
            return  # an object was made by the test itself
        path = os.pathsep.join(p for p in sys.path if p)
        run = subprocess.run(
            [sys.executable, str(side_effects.__file__), plugin.__name__],
            capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        assert run.returncode == 0, f"importing {plugin.__name__} failed:\n{run.stderr}"
        *printed, report = run.stdout.rstrip("\n").split("\n")
        assert not "".join(printed) and not run.stderr, f"importing it prints: {run.stdout}{run.stderr}"
        found = json.loads(report)
        assert not found["heavy"], (
            f"importing {plugin.__name__} imports {', '.join(found['heavy'])}: import it inside build"
        )
        assert not found["changed"], (
            f"importing {plugin.__name__} changes {', '.join(found['changed'])}: do that in build, or never"
        )

    def test_requirements_answer_for_an_empty_environment(self, declared: Provider[Any]) -> None:
        for requirement in declared.requires:
            missing = requirement.missing({})
            assert missing is None or (isinstance(missing, str) and missing.strip())

    def test_settings_have_defaults(self, declared: Provider[Any]) -> None:
        if declared.settings is None:
            return
        assert attrs.has(declared.settings), "the settings are an attrs class"
        bare = [f.name for f in attrs.fields(declared.settings) if f.default is attrs.NOTHING]
        assert not bare, f"settings without a default: {', '.join(bare)}: a user need not write a table"
        assert structure(declared.settings, {}, path="settings") is not None

    def test_builds_quickly_what_it_declares(self, declared: Provider[Any], context: FakeContext) -> None:
        started = monotonic()
        built = self.build(declared, context)
        took = monotonic() - started
        assert isinstance(built, self.protocol), (
            f"build returned a {type(built).__name__}, which is no {self.protocol.__name__}: "
            f"it lacks {', '.join(_lacking(built, self.protocol)) or 'nothing by name'}"
        )
        assert took < BUILD_LIMIT_S, f"building took {took:.1f} s: load heavy things on first use"
        self._close(built)

    def test_close_may_be_called_twice(self, declared: Provider[Any], context: FakeContext) -> None:
        built = self.build(declared, context)
        self._close(built)
        self._close(built)

    @staticmethod
    def _close(built: Any) -> None:
        close = getattr(built, "close", None)
        if callable(close):
            close()
