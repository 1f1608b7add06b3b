"""A model that a setting chooses: by its name here, by a folder, or by a repository and commit of the hub."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from attrs import frozen

from .artefacts import REVISION, Model, ModelSpec, Pick
from .errors import ConfigError
from .settings import in_home

_REPO = re.compile(r"[\w][\w.-]*/[\w][\w.-]*\Z", re.ASCII)


def chosen_model(
    value: str, setting: str, known: Sequence[ModelSpec], pick: Pick, *, variant: str = ""
) -> ModelSpec:
    """Return the model of that name: one of ``known``, a folder by its whole path, or ORG/NAME@COMMIT.

    Args:
        setting: what the value is called in messages.
        variant: tells models of one repository apart that consist of different files.

    Raises:
        ConfigError: no model has this name, or a repository is named without its commit.
    """
    for spec in known:
        if value.lower() == spec.name or (spec.repo and value == f"{spec.repo}@{spec.revision}"):
            return spec
    path = in_home(value)
    suffix = f"--{variant}" if variant else ""
    if path.is_absolute():
        return ModelSpec(name=_slug(path.name) + suffix, licence="", path=str(path), pick=pick)
    repo, _, revision = value.partition("@")
    if not _REPO.match(repo):
        raise _unknown(value, setting, [spec.name for spec in known])
    if not REVISION.match(revision.lower()):
        raise _unpinned(repo, revision, setting, next((s.revision for s in known if s.repo == repo), ""))
    return ModelSpec(
        name=_slug(repo.replace("/", "--")) + suffix,
        licence="",
        repo=repo,
        revision=revision.lower(),
        pick=pick,
    )


@frozen(kw_only=True)
class ModelChoice:
    """Requirement: the model that a setting of the plugin names.

    The setting is one of the ``known`` names, a folder by its whole path, or a repository of the hub with
    its commit, ``ORG/NAME@COMMIT``.

    Attributes:
        setting: the name of the field in the plugin's settings, which is a string.
        known: the models that have a name here; the first one is meant without settings.
        pick: chooses a model's files among those of a folder or repository; see ``ModelSpec.pick``.
        variant: tells this plugin's choice of files of a repository from another plugin's.
    """

    setting: str
    known: tuple[ModelSpec, ...]
    pick: Pick
    variant: str = ""

    def spec(self, settings: Any) -> ModelSpec:
        """Return the model that ``settings`` name.

        Raises:
            ConfigError: no model has this name, or a repository is named without its commit.
        """
        if settings is None:
            return self.known[0]
        value = str(getattr(settings, self.setting)).strip()
        return chosen_model(value, self.setting, self.known, self.pick, variant=self.variant)

    def with_settings(self, settings: Any) -> Model:
        """The requirement for these settings. Raises ConfigError as ``spec`` does."""
        return Model(self.spec(settings))

    def missing(self, environ: Mapping[str, str]) -> str | None:
        return Model(self.known[0]).missing(environ)


def _unpinned(repo: str, revision: str, setting: str, known: str) -> ConfigError:
    got = f"{revision!r} is no whole commit" if revision else "it has no commit"
    return ConfigError(
        f"{setting}: a repository of the hub is named with its commit, since a branch can change; {got}",
        fix=f"write {repo}@{known}"
        if known
        else f"write {repo}@COMMIT, the 40 hexadecimal digits that the repository's history shows",
    )


def _unknown(value: str, setting: str, names: Sequence[str]) -> ConfigError:
    near = get_close_matches(value, names, n=1)
    listed = f" (there are: {', '.join(names)})" if names else ""
    return ConfigError(
        f"{setting}: no model is named {value!r}{listed}" + (f"; did you mean {near[0]}?" if near else ""),
        fix=f"give {setting} {'one of these names, ' if names else ''}the whole path of a folder, "
        "or ORG/NAME@COMMIT of the hub",
    )


def _slug(text: str) -> str:
    slug = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).lstrip("._-")
    return slug or "model"
