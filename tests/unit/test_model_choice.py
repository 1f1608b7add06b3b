"""A model that a setting chooses."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from webfetch_core.artefacts import ModelFile, ModelSpec
from webfetch_core.errors import ConfigError
from webfetch_core.model_choice import ModelChoice, chosen_model

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PINNED = ModelSpec(
    name="tiny-ranker",
    files=(ModelFile(name="m.onnx", sha256="a" * 64, size=1),),
    licence="MIT",
    repo="acme/Tiny-Ranker",
    revision=COMMIT,
)
OTHER = ModelSpec(name="other", licence="MIT")


def everything(names: Sequence[str]) -> Sequence[str]:
    return names


@frozen
class Chosen:
    ranker: str = "tiny-ranker"


CHOICE = ModelChoice(setting="ranker", known=(PINNED, OTHER), pick=everything)


@pytest.mark.parametrize("value", ["tiny-ranker", " Tiny-Ranker ", f"acme/Tiny-Ranker@{COMMIT}"])
def test_a_known_model_goes_by_its_name_or_its_commit(value: str) -> None:
    assert CHOICE.spec(Chosen(value)) is PINNED


def test_the_first_one_is_meant_without_settings() -> None:
    assert CHOICE.spec(None) is PINNED
    assert "tiny-ranker" in (CHOICE.missing({"WEBFETCH_HOME": "/nowhere"}) or "")


def test_another_commit_of_a_known_repository_is_another_model() -> None:
    spec = CHOICE.spec(Chosen(f"acme/Tiny-Ranker@{COMMIT[::-1].upper()}"))
    assert (spec.name, spec.repo, spec.revision) == ("acme--tiny-ranker", PINNED.repo, COMMIT[::-1])
    assert spec.pick is everything and not spec.files


def test_a_folder_is_named_by_its_whole_path(tmp_path: Path) -> None:
    spec = CHOICE.spec(Chosen(str(tmp_path / "My Ranker")))
    assert (spec.name, spec.path, spec.repo) == ("my-ranker", str(tmp_path / "My Ranker"), "")
    assert "there is no folder" in (CHOICE.with_settings(Chosen(spec.path)).missing({}) or "")


@pytest.mark.parametrize("revision", ["", "@", "@main", "@0123456", f"@{COMMIT}0", f"@{COMMIT[:-1]}g"])
def test_a_repository_without_its_whole_commit_says_what_to_write(revision: str) -> None:
    with pytest.raises(ConfigError, match=r"ranker: .*named with its commit") as told:
        CHOICE.spec(Chosen(f"org/some{revision}"))
    assert "org/some@COMMIT" in told.value.fix and "40 hexadecimal digits" in told.value.fix
    with pytest.raises(ConfigError) as told:
        CHOICE.spec(Chosen(f"acme/Tiny-Ranker{revision}"))
    assert told.value.fix == f"write acme/Tiny-Ranker@{COMMIT}"


def test_an_unknown_name_names_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"no model is named 'tiny-rankre' \(there are: tiny-ranker"):
        CHOICE.spec(Chosen("tiny-rankre"))


def test_models_of_one_repository_are_told_apart_by_their_variant() -> None:
    spec = chosen_model(f"org/some@{COMMIT}", "x", (), everything, variant="torch")
    assert spec.name == "org--some--torch"


@given(st.text(max_size=60))
def test_any_value_is_a_model_or_an_error_of_the_settings(value: str) -> None:
    made: Any = None
    try:
        made = CHOICE.spec(Chosen(value))
    except ConfigError as told:
        assert told.fix
    assert made is None or made.name
