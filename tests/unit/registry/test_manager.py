"""Loading and asking plugins, each on its own."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from webfetch_core.api import Provider, hookimpl
from webfetch_core.registry.discovery import discover
from webfetch_core.registry.manager import MAX_ITEMS, LoadedPlugin, Manager, describe
from webfetch_core.testing import FakePlugin, fake_dist


def provider(name: str = "one", **fields: Any) -> Provider[Any]:
    return Provider(name=name, build=lambda settings, context: object(), **fields)


def registered(*plugins: tuple[str, object], strict: bool = False) -> Manager:
    manager = Manager(strict=strict, hook_limit_s=0.3)
    for name, plugin in plugins:
        manager.register(plugin, LoadedPlugin(name=name, dist=f"dist-{name}", version="1"))
    return manager


# The lambdas stay: @hookimpl cannot mark a type or a bound method.
# ruff: noqa: PIE807
class Module:
    """A plugin object whose hooks are given as keyword arguments."""

    def __init__(self, **hooks: Any) -> None:
        for name, hook in hooks.items():
            setattr(self, name, hookimpl(hook))


def test_hooks_are_listed() -> None:
    manager = registered(("mine", FakePlugin("mine", {"search": [provider()], "fetch": [provider()]})))
    (plugin,) = manager.plugins
    assert plugin.state == "loaded"
    assert plugin.hooks == ("webfetch_fetchers", "webfetch_search_engines")


def test_a_plugin_without_hooks_fails_with_a_hint() -> None:
    manager = registered(("bare", Module()))
    (plugin,) = manager.plugins
    assert plugin.state == "failed" and "@hookimpl" in plugin.reason


def test_an_unknown_hook_is_a_warning_and_the_rest_serves() -> None:
    manager = registered(
        (
            "mine",
            Module(webfetch_rankers=lambda: [], webfetch_search_engine=lambda: [], webfetch_new=lambda: []),
        )
    )
    (plugin,) = manager.plugins
    assert plugin.state == "loaded" and plugin.hooks == ("webfetch_rankers",)
    assert "unknown hook webfetch_new, webfetch_search_engine" in plugin.reason


def test_a_wrong_argument_fails_that_plugin_and_leaves_no_half() -> None:
    def veto(uri: str) -> None: ...

    manager = registered(
        ("bad", Module(webfetch_rankers=lambda: [provider("bad")], webfetch_veto_url=veto)),
        ("good", Module(webfetch_rankers=lambda: [provider("good")])),
    )
    states = {p.name: p for p in manager.plugins}
    assert states["bad"].state == "failed" and "uri" in states["bad"].reason
    assert [a.plugin for a in manager.ask_each("webfetch_rankers")] == ["good"]


def test_fewer_arguments_than_the_hook_has_are_fine() -> None:
    seen = []
    manager = registered(("mine", Module(webfetch_event=lambda: seen.append("called"))))
    list(manager.ask_each("webfetch_event", event=None))
    assert seen == ["called"]


def test_wrappers_are_refused() -> None:
    class Wrapping:
        @hookimpl(wrapper=True)
        def webfetch_rankers(self) -> Any:
            return (yield)

    manager = registered(("wrapping", Wrapping()))
    (plugin,) = manager.plugins
    assert plugin.state == "failed" and "wrappers" in plugin.reason
    assert list(manager.ask_each("webfetch_rankers")) == []


@pytest.mark.parametrize("error", [RuntimeError("boom"), SystemExit(2), GeneratorExit()])
def test_one_that_raises_does_not_stop_the_next(error: BaseException) -> None:
    def raising() -> None:
        raise error

    manager = registered(
        ("a_bad", Module(webfetch_rankers=raising)), ("b_good", Module(webfetch_rankers=lambda: [provider()]))
    )
    bad, good = manager.ask_each("webfetch_rankers")
    assert bad.plugin == "a_bad" and type(error).__name__ in bad.problem
    assert good.problem == "" and good.value[0].name == "one"


def test_one_that_hangs_does_not_stop_the_next() -> None:
    release = threading.Event()

    def hanging() -> None:
        release.wait(10)

    manager = registered(
        ("a_bad", Module(webfetch_rankers=hanging)), ("b_good", Module(webfetch_rankers=lambda: []))
    )
    bad, good = manager.ask_each("webfetch_rankers")
    release.set()
    assert "did not finish within 0.3 s" in bad.problem and not good.problem


def test_a_generator_is_read_inside_the_limit() -> None:
    def raising() -> Any:
        yield provider()
        raise RuntimeError("half way")

    (answer,) = registered(("mine", Module(webfetch_rankers=raising))).ask_each("webfetch_rankers")
    assert "half way" in answer.problem


def test_an_endless_generator_is_a_flood_not_a_hang() -> None:
    def endless() -> Any:
        while True:
            yield provider()

    (answer,) = registered(("mine", Module(webfetch_rankers=endless))).ask_each("webfetch_rankers")
    assert not answer.problem and len(answer.value) == MAX_ITEMS


def test_plugins_are_asked_by_name() -> None:
    names = ["zeta", "alpha", "mid"]
    manager = registered(*((n, Module(webfetch_rankers=lambda: [])) for n in names))
    assert [a.plugin for a in manager.ask_each("webfetch_rankers")] == sorted(names)


def test_strict_raises_instead() -> None:
    with pytest.raises(TypeError):
        registered(("bare", Module()), strict=True)

    def raising() -> None:
        raise RuntimeError("boom")

    manager = registered(("bad", Module(webfetch_rankers=raising)), strict=True)
    with pytest.raises(RuntimeError, match="boom"):
        list(manager.ask_each("webfetch_rankers"))


def test_two_managers_do_not_share_anything() -> None:
    first = registered(("mine", Module(webfetch_rankers=lambda: [])))
    assert registered().plugins == () and len(first.plugins) == 1


def test_one_name_twice_keeps_both_on_the_list() -> None:
    manager = registered(
        ("same", Module(webfetch_rankers=lambda: [])), ("same", Module(webfetch_rankers=lambda: []))
    )
    assert sorted(p.state for p in manager.plugins) == ["failed", "loaded"]
    assert any("registered already" in p.reason for p in manager.plugins)
    assert len(list(manager.ask_each("webfetch_rankers"))) == 1


def test_loading_by_name_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "from webfetch_core.api import hookimpl\n@hookimpl\ndef webfetch_rankers():\n    return []\n"
    for name in ("lists_a", "lists_b", "lists_c"):
        fake_dist(tmp_path, f"wf-{name}", entry_points={name: f"{name}_mod"}, modules={f"{name}_mod": source})
    monkeypatch.syspath_prepend(str(tmp_path))
    manager = Manager()
    manager.load(discover("0.1.0", [str(tmp_path)]), allow=["lists_a", "lists_b"], block=["lists_b"])
    assert {p.name: (p.state, p.reason) for p in manager.plugins} == {
        "lists_a": ("loaded", ""),
        "lists_b": ("blocked", "blocked by settings"),
        "lists_c": ("blocked", "not among the allowed plugins"),
    }


def test_an_import_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_dist(
        tmp_path,
        "wf-hang",
        entry_points={"hang": "hang_on_import"},
        modules={"hang_on_import": "import time\ntime.sleep(60)\n"},
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    manager = Manager(load_limit_s=0.1)
    manager.load(discover("0.1.0", [str(tmp_path)]), allow=None, block=())
    (plugin,) = manager.plugins
    assert plugin.state == "failed" and "did not finish within 0.1 s" in plugin.reason


def test_observers_are_named() -> None:
    manager = registered(("mine", Module(webfetch_event=lambda event: None)))
    ((name, function),) = manager.observers("webfetch_event")
    assert name == "mine" and function(event=None) is None


def test_describe_is_one_line() -> None:
    assert describe(ValueError("first\n\n  second")) == "ValueError: first; second"
    assert describe(SystemExit()) == "SystemExit"
    assert len(describe(ValueError("x" * 5_000))) < 500


def test_an_exception_that_cannot_be_printed_is_described_by_its_type() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("not me")

    assert describe(Mute()) == "Mute"


def test_mark_failed_only_touches_known_plugins() -> None:
    manager = registered(("mine", Module(webfetch_rankers=lambda: [])))
    manager.mark_failed("other", "x")
    manager.mark_failed("mine", "later")
    assert [(p.name, p.state, p.reason) for p in manager.plugins] == [("mine", "failed", "later")]


@pytest.mark.parametrize("what", ["hangs", "exits", "raises"])
def test_an_object_whose_attributes_run_code_costs_itself_alone(what: str) -> None:
    class Bad:
        webfetch_rankers = staticmethod(hookimpl(lambda: [provider("bad")]))

        @property
        def trap(self) -> Any:
            if what == "hangs":
                threading.Event().wait(60.0)
            raise SystemExit(1) if what == "exits" else RuntimeError("no")

    manager = Manager(load_limit_s=1.0)
    manager.register(Bad(), LoadedPlugin(name="bad"))
    manager.register(Module(webfetch_rankers=lambda: [provider("good")]), LoadedPlugin(name="good"))
    states = {p.name: p.state for p in manager.plugins}
    assert states == {"bad": "failed", "good": "loaded"}
    assert [a.plugin for a in manager.ask_each("webfetch_rankers")] == ["good"]


@pytest.mark.parametrize("text", ["\ud800 half", "\x1b[31mred", "x" * 10**6])
def test_an_exception_is_told_in_text_that_can_be_shown(text: str) -> None:
    told = describe(ValueError(text))
    told.encode()
    assert told.isprintable() and len(told) < 1_000


def test_an_exception_that_cannot_print_itself_is_told_by_its_type() -> None:
    class Sly(Exception):
        def __str__(self) -> str:
            raise SystemExit(1)

    assert describe(Sly()) == "Sly"
