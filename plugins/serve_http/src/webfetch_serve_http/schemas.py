"""Schemas for OpenAPI: those of the records are made from the records, so they cannot say anything else."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Any, Literal, Union

import attrs
from pydantic import BaseModel, ConfigDict, Field, create_model

from webfetch_core import Document, SearchResult
from webfetch_core.api import Chunk, Freshness, Scored

Text = Annotated[str, Field(max_length=8_000)]
Host = Annotated[str, Field(min_length=1, max_length=253)]
Url = Annotated[str, Field(min_length=1, max_length=8_192)]
Passage = Annotated[str, Field(max_length=20_000)]


class _Input(BaseModel):
    """Native requests are read strictly: a field that is misspelt would otherwise be without effect."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SearchInput(_Input):
    """A search. Everything but the query has a default."""

    query: Annotated[str, Field(min_length=1, max_length=2_000, description="what to find, in words")]
    limit: Annotated[int, Field(ge=1, le=100, description="pages to look at")] | None = None
    freshness: (
        Annotated[
            Literal["realtime", "recent", "stable"], Field(description="how fast the answer goes stale")
        ]
        | None
    ) = None
    force_fresh: Annotated[bool, Field(description="pass by what is cached")] = False
    cache_only: Annotated[bool, Field(description="never touch the network")] = False
    include_domains: Annotated[list[Host], Field(max_length=300)] = []
    exclude_domains: Annotated[list[Host], Field(max_length=300)] = []
    language: Annotated[str, Field(min_length=2, max_length=12, description="ISO 639-1")] | None = None
    country: Annotated[str, Field(min_length=2, max_length=2, description="ISO 3166-1")] | None = None
    engines: Annotated[list[Host], Field(max_length=32, description="ask these alone")] = []
    deadline_s: (
        Annotated[float, Field(gt=0, le=600, description="seconds; the server's own limit holds too")] | None
    ) = None
    full_results: Annotated[bool, Field(description="excerpts as they are, not compressed")] = False
    max_tokens: Annotated[int, Field(ge=50, le=100_000, description="for text and excerpts")] | None = None
    render: Annotated[bool, Field(description="with text, the result written for a model")] = True


class FetchInput(_Input):
    """A page to read."""

    url: Url
    force_fresh: bool = False
    deadline_s: Annotated[float, Field(gt=0, le=600)] | None = None


class RerankInput(_Input):
    """Passages to rank."""

    query: Annotated[str, Field(min_length=1, max_length=2_000)]
    passages: Annotated[list[Passage], Field(min_length=1, max_length=1_000)]
    limit: Annotated[int, Field(ge=1, le=1_000, description="how many to return, best first")] | None = None


class Attempted(BaseModel):
    """What one engine came to."""

    provider: str
    outcome: str
    reason: str


class ErrorDetail(BaseModel):
    """``kind`` is one word of a fixed vocabulary; ``fix`` says what to do."""

    kind: str
    message: str
    fix: str = ""
    retry_after_s: int | None = None
    attempts: list[Attempted] = []


class ErrorReply(BaseModel):
    """The one shape of an error."""

    error: ErrorDetail


class Health(BaseModel):
    """The server is there."""

    status: Literal["ok"]
    version: str


class ProviderState(BaseModel):
    """One provider and whether it works."""

    stage: str
    name: str
    state: str
    reason: str
    usd_per_1k: float


class StatusReply(BaseModel):
    """What runs, and why the rest does not. No path of the machine and no setting is in it."""

    schema_version: int
    version: str
    serving: str
    providers: list[ProviderState]
    cache: dict[str, Any]
    counters: dict[str, int]
    notes: list[str]


def model_of(record: type, *, name: str = "", **more: Any) -> type[BaseModel]:
    """The schema of a record as JSON, with the fields ``more`` before its own."""
    hints = typing.get_type_hints(record)
    fields: dict[str, Any] = {**more}
    for one in attrs.fields(record):
        if one.repr:
            fields[one.name] = (_json_type(hints[one.name]), ...)
    made: type[BaseModel] = create_model(
        name or record.__name__, __doc__=(record.__doc__ or "").split("\n\n")[0], **fields
    )
    return made


def _json_type(hint: Any) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return Union[tuple(_json_type(one) for one in arguments)]  # noqa: UP007 (of a tuple made here)
    if origin is tuple:
        return list[_json_type(arguments[0])]  # type: ignore[misc]
    if origin is not None and issubclass(origin, Mapping):
        return dict[str, _json_type(arguments[1])]  # type: ignore[misc]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Literal[tuple(member.value for member in hint)]
    if isinstance(hint, type) and attrs.has(hint):
        return _of_record(hint)
    return hint


_MADE: dict[type, type[BaseModel]] = {}


def _of_record(record: type) -> type[BaseModel]:
    if record not in _MADE:
        _MADE[record] = model_of(record)
    return _MADE[record]


_VERSION: Any = (int, ...)
SearchReply = model_of(
    SearchResult,
    name="SearchReply",
    schema_version=_VERSION,
    excerpts=(list[_of_record(Chunk)], ...),  # type: ignore[misc]
    text=(str | None, ...),
)
_SCORED: Any = (list[_of_record(Scored)], ...)  # type: ignore[misc]
FetchReply = model_of(Document, name="FetchReply", schema_version=_VERSION)
RerankReply = create_model(
    "RerankReply",
    __doc__="Passages by their index in the request, best first.",
    schema_version=_VERSION,
    results=_SCORED,
    took_s=(float, ...),
)
FRESHNESS: tuple[str, ...] = tuple(member.value for member in Freshness)
