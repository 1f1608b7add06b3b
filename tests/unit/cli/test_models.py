"""``webfetch models``, over a plugin with a model that a hub on the loopback address has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from attrs.validators import ge

from webfetch_core.api import Model, ModelChoice, ModelFile, ModelSpec, Module, Provider, RankTraits, hookimpl
from webfetch_core.testing import ScriptedRanker
from webfetch_core.testing.hub import LoopbackHub

BODY = b"weights" * 1_000
REVISION = "b" * 40


def spec(name: str, **options: str) -> ModelSpec:
    file = ModelFile(name="model.onnx", sha256=hashlib.sha256(BODY).hexdigest(), size=len(BODY))
    return ModelSpec(name=name, files=(file,), licence="MIT", summary="a ranker", **options)


ON_HUB = spec("on-hub", repo="acme/on-hub", revision=REVISION)
NOWHERE = spec("nowhere", repo="acme/nowhere", revision=REVISION)


class Plugin:
    """Two rankers, each with a model of its own; the second works without, too."""

    @hookimpl
    def webfetch_rankers(self) -> list[Provider[Any]]:
        return [
            Provider(
                name=model.name.replace("-", "_"),
                build=lambda settings, context: ScriptedRanker(),
                requires=(Model(model, optional=model is NOWHERE),),
                traits=RankTraits(kind="crossencoder"),
            )
            for model in (ON_HUB, NOWHERE)
        ]


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    pytest.importorskip("huggingface_hub", reason="pulling needs huggingface_hub")
    with LoopbackHub() as hub:
        yield hub.add("acme/on-hub", REVISION, {"model.onnx": BODY})


@pytest.fixture
def models_cli(cli: Any, hub: LoopbackHub, tmp_path: Path) -> Any:
    cli.plugins.append(Plugin())
    cli.environ.update({"HF_ENDPOINT": hub.endpoint, "WEBFETCH_HOME": str(tmp_path / "home")})
    return cli


def test_list_says_what_is_here_and_how_to_get_the_rest(models_cli: Any) -> None:
    shown = models_cli("models", "list").out
    assert "on-hub  missing" in shown
    assert "webfetch models pull on-hub" in shown
    assert f"acme/on-hub@{REVISION[:12]}" in shown and "MIT" in shown
    data = json.loads(models_cli("models", "list", "--json").out)
    assert [(row["name"], row["state"]) for row in data["models"]] == [
        ("nowhere", "missing"),
        ("on-hub", "missing"),
    ]


def test_a_pulled_model_switches_its_provider_on(models_cli: Any) -> None:
    assert "off" in next(
        line for line in models_cli("plugins").out.splitlines() if "rank on_hub" in " ".join(line.split())
    )
    ran = models_cli("models", "pull", "on-hub")
    assert ran.code == 0
    assert "on-hub  ready (store)" in ran.out
    assert "on-hub: model.onnx" in ran.err
    assert "ready" in next(
        line for line in models_cli("plugins").out.splitlines() if "rank on_hub" in " ".join(line.split())
    )


def test_one_that_fails_does_not_keep_the_others_from_coming(models_cli: Any) -> None:
    ran = models_cli("models", "pull", "nowhere", "on-hub")
    assert ran.code != 0
    assert "webfetch: nowhere: model.onnx: the hub answered 404" in ran.err
    assert "on-hub  ready" in models_cli("models", "list").out


def test_without_a_name_what_a_provider_waits_for_is_pulled(models_cli: Any) -> None:
    ran = models_cli("models", "pull")
    assert ran.code == 0 and "nowhere" not in ran.out + ran.err  # its provider works without it
    assert "on-hub  ready (store)" in ran.out


def test_models_of_providers_that_lack_more_are_left_out(models_cli: Any) -> None:
    class Lacking:
        @hookimpl
        def webfetch_rankers(self) -> list[Provider[Any]]:
            return [
                Provider(
                    name="lacking",
                    build=lambda settings, context: ScriptedRanker(),
                    requires=(Model(spec("lacked", repo="acme/x", revision=REVISION)), Module("no_such_one")),
                    traits=RankTraits(kind="crossencoder"),
                )
            ]

    models_cli.plugins.append(Lacking())
    assert "lacked  missing" in models_cli("models", "list").out
    assert "lacked" not in models_cli("models", "pull").out


@pytest.mark.parametrize("name", ["acme/on-hub", f"acme/on-hub@{REVISION}"])
def test_a_model_goes_by_its_repository_too(models_cli: Any, name: str) -> None:
    assert "on-hub  ready (store)" in models_cli("models", "pull", name).out


@frozen(kw_only=True)
class OpenSettings:
    model: str = "on-hub"


class Open:
    """A ranker whose model a setting names."""

    @hookimpl
    def webfetch_rankers(self) -> list[Provider[Any]]:
        choice = ModelChoice(setting="model", known=(ON_HUB,), pick=list)
        return [
            Provider(
                name="open",
                build=lambda settings, context: ScriptedRanker(),
                settings=OpenSettings,
                requires=(choice,),
                traits=RankTraits(kind="crossencoder"),
            )
        ]


def test_what_a_setting_names_is_what_is_listed_and_pulled(
    cli: Any, hub: LoopbackHub, tmp_path: Path
) -> None:
    hub.add("acme/other", REVISION, {"model.onnx": BODY, "config.json": b"{}"})
    cli.plugins.append(Open())
    cli.environ.update({"HF_ENDPOINT": hub.endpoint, "WEBFETCH_HOME": str(tmp_path / "home")})
    assert "on-hub  missing" in cli("models", "list").out
    cli.environ["WEBFETCH_PLUGINS__OPEN__MODEL"] = f"acme/other@{REVISION}"
    assert "acme--other  missing" in cli("models", "list").out
    assert "acme--other  ready (store)" in cli("models", "pull").out
    assert cli("models", "verify").code == 0
    cli.environ["WEBFETCH_PLUGINS__OPEN__MODEL"] = "acme/other"
    ran = cli("status")
    assert "acme/other@COMMIT" in ran.out + ran.err


def test_the_operators_own_copy_is_found_by_the_variable(models_cli: Any, tmp_path: Path) -> None:
    own = tmp_path / "own" / "on-hub"
    own.mkdir(parents=True)
    (own / "model.onnx").write_bytes(b"fine-tuned")
    models_cli.environ["WEBFETCH_MODEL_PATH"] = str(own.parent)
    assert "on-hub  unverified (path)" in models_cli("models", "list").out


def test_verify_tells_of_damage_by_its_exit_code(models_cli: Any, tmp_path: Path) -> None:
    models_cli("models", "pull", "on-hub")
    assert models_cli("models", "verify").code == 0  # what is not here is nobody's damage
    (file,) = (tmp_path / "home" / "models").rglob("model.onnx")
    file.write_bytes(b"!" + BODY[1:])
    ran = models_cli("models", "verify", "on-hub")
    assert ran.code == 3
    assert "on-hub  damaged (store)" in ran.out
    assert models_cli("models", "pull", "on-hub").code == 0
    assert models_cli("models", "verify", "on-hub").code == 0


def test_an_unknown_name_names_those_there_are(models_cli: Any) -> None:
    ran = models_cli("models", "pull", "onhub")
    assert ran.code == 2
    assert "there are: nowhere, on-hub" in ran.err


def test_no_plugin_with_a_model_is_said(cli: Any) -> None:
    assert cli("models", "list").out == "no installed plugin has a model\n"
    assert "pip install webfetch-rank-onnx" in cli("models", "pull", "x").err


@frozen(kw_only=True)
class Bounded:
    threads: int = field(default=0, validator=ge(0))


class Broken:
    """Its settings are wrong."""

    @hookimpl
    def webfetch_rankers(self) -> list[Provider[Any]]:
        return [
            Provider(
                name="bounded",
                build=lambda settings, context: ScriptedRanker(),
                settings=Bounded,
                requires=(Model(spec("of-broken")),),
                traits=RankTraits(kind="crossencoder"),
            )
        ]


def test_models_of_a_plugin_with_wrong_settings_are_not_left_out_in_silence(models_cli: Any) -> None:
    models_cli.plugins.append(Broken())
    done = models_cli("--set", "plugins.broken.threads=-1", "models", "list")
    assert "of-broken" not in done.out
    assert "bounded is left out: plugins.broken.threads: must be at least 0" in done.err
    assert "left out" not in models_cli("models", "list").err
