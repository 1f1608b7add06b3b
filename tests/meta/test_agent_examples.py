"""The agent loops of examples/, over real HTTP against models that play a script.

With the vendors' libraries where they are installed (`nox -s clients`), and always with a client that
sends and reads the same JSON.
"""

from __future__ import annotations

import importlib.util
import json
import re
import urllib.error
import urllib.request
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from webfetch_core import ToolBox
from webfetch_core.testing import (
    AnthropicSimulator,
    OpenAISimulator,
    Say,
    ScriptedEngine,
    ScriptedExtractor,
    ScriptedFetcher,
    ScriptedRanker,
    Use,
    fake_plugin,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
URL = "https://tarn.example/lighthouse"
QUESTION = "how high is the lighthouse of Tarn?"
NOW = datetime(2026, 12, 1, 9)
PAGE = "The lighthouse of Tarn\n\n" + "Ships pass the lighthouse by day and by night. " * 200
PAGE += "\n\nIts tower was measured in 2025 and is 41 metres high."


def read_page(results: list[str]) -> Use:
    """What a model does that was taught to: it takes the address from the line that has it."""
    found = re.search(r"^\[pages: (\S+)", results[-1], re.MULTILINE)
    assert found, results[-1]
    return Use("fetch_url", {"url": found[1].rstrip("]"), "query": "metres high", "max_tokens": "400"})


def conclude(results: list[str]) -> Say:
    found = re.search(r"is (\d+ metres high)", results[-1])
    return Say(f"It is {found[1]} ({URL})." if found else f"I do not know: {results[-1]}")


SCRIPT = [Use("web_search", {"query": "lighthouse of Tarn"}), read_page, conclude]
ANSWER = f"It is 41 metres high ({URL})."


@pytest.fixture
def box(wf: Callable[..., Any]) -> ToolBox:
    return ToolBox(
        wf(
            fake_plugin("search", ScriptedEngine([URL]), name="mine"),
            fake_plugin("fetch", ScriptedFetcher({URL: PAGE})),
            fake_plugin("extract", ScriptedExtractor()),
            fake_plugin("rank", ScriptedRanker()),
        )
    )


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- clients that are JSON over HTTP and nothing else ------------------------------------------------


def post(url: str, body: dict[str, Any]) -> Any:
    headers = {
        "Content-Type": "application/json",
        "Authorization": "Bearer k",
        "anthropic-version": "2026-10-21",
    }
    request = urllib.request.Request(url, json.dumps(body, default=vars).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return json.load(reply, object_hook=_record)
    except urllib.error.HTTPError as exc:
        raise AssertionError(exc.read().decode()) from exc


def _record(data: dict[str, Any]) -> Any:
    """Attributes, as the vendors' libraries give them; a call's input stays a dict."""
    return SimpleNamespace(**data) if {"type", "output", "content"} & set(data) else data


def plain_anthropic(model: AnthropicSimulator) -> Any:
    def create(**body: Any) -> Any:
        return post(f"{model.base_url}/v1/messages", body)

    return SimpleNamespace(messages=SimpleNamespace(create=create))


def plain_openai(model: OpenAISimulator) -> Any:
    def create(**body: Any) -> Any:
        return post(f"{model.base_url}/v1/responses", body)

    return SimpleNamespace(responses=SimpleNamespace(create=create))


def real_anthropic(model: AnthropicSimulator) -> Any:
    anthropic = pytest.importorskip("anthropic")
    return anthropic.Anthropic(base_url=model.base_url, api_key="k", max_retries=0)


def real_openai(model: OpenAISimulator) -> Any:
    openai = pytest.importorskip("openai")
    return openai.OpenAI(base_url=f"{model.base_url}/v1", api_key="k", max_retries=0)


ANTHROPIC = pytest.mark.parametrize("client", [plain_anthropic, real_anthropic])
OPENAI = pytest.mark.parametrize("client", [plain_openai, real_openai])


# ---- the loops -------------------------------------------------------------------------------------


@ANTHROPIC
def test_anthropic_client(
    box: ToolBox, client: Callable[[Any], Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with AnthropicSimulator(SCRIPT) as model:
        assert load("agent_anthropic").answer(QUESTION, client(model), box, NOW) == ANSWER
    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == ["web_search", "fetch_url"]
    first, second, third = model.bodies
    assert "Tuesday, 1 December 2026" in first["system"][0]["text"]
    assert [tool["name"] for tool in first["tools"]] == [tool.name for tool in box.tools()]
    assert first["tools"] == second["tools"] == third["tools"], "what is cached does not change"
    assert ["cache_control" in tool for tool in first["tools"]].count(True) == 1
    marked = [
        [number for number, message in enumerate(body["messages"]) if "cache_control" in json.dumps(message)]
        for body in model.bodies
    ]
    assert marked == [[], [2], [4]], "the newest result is marked, and no other"
    assert third["messages"][2]["content"][0]["is_error"] is False


@ANTHROPIC
def test_anthropic_client_with_calls_at_once_and_failures(box: ToolBox, client: Callable[[Any], Any]) -> None:
    both = [Use("fetch_url", {"url": "http://gone.example/"}), Use("no_such_tool", {})]
    script = [both, lambda results: Say(" ".join(text.split("]")[0] for text in results))]
    with AnthropicSimulator(script) as model:
        told = load("agent_anthropic").answer(QUESTION, client(model), box, NOW)
    assert told == "[failed: not_found [failed: unknown_tool"
    assert [block["is_error"] for block in model.bodies[-1]["messages"][-1]["content"]] == [True, True]


@OPENAI
def test_openai_client(box: ToolBox, client: Callable[[Any], Any]) -> None:
    with OpenAISimulator(SCRIPT) as model:
        assert load("agent_openai").answer(QUESTION, client(model), box, NOW) == ANSWER
    first = model.bodies[0]
    assert "Tuesday, 1 December 2026" in first["instructions"]
    assert all(tool["strict"] is False for tool in first["tools"])
    assert len(model.bodies) == 3


@OPENAI
def test_openai_client_with_calls_at_once_and_failures(box: ToolBox, client: Callable[[Any], Any]) -> None:
    both = [Use("fetch_url", {"url": "http://gone.example/"}), Use("web_search", {})]
    script = [both, lambda results: Say(" ".join(text.split("]")[0] for text in results))]
    with OpenAISimulator(script) as model:
        told = load("agent_openai").answer(QUESTION, client(model), box, NOW)
    assert told == "[failed: not_found [failed: bad_query"


def test_local(box: ToolBox) -> None:
    with OpenAISimulator(SCRIPT) as model:
        told = load("agent_local").answer(QUESTION, f"{model.base_url}/v1", "qwen3", box, NOW)
    assert told == ANSWER
    assert model.bodies[0]["messages"][0]["role"] == "system"
    assert [tool["function"]["name"] for tool in model.bodies[0]["tools"]] == ["web_search", "fetch_url"]


def test_a_model_that_never_answers(box: ToolBox) -> None:
    again = [Use("status")]
    with AnthropicSimulator(again) as model:
        told = load("agent_anthropic").answer(QUESTION, plain_anthropic(model), box, NOW)
    assert told == "No answer after 12 turns." and len(model.bodies) == 12
    with OpenAISimulator(again) as other:
        assert load("agent_openai").answer(QUESTION, plain_openai(other), box, NOW) == told
        assert load("agent_local").answer(QUESTION, f"{other.base_url}/v1", "m", box, NOW) == told


@pytest.mark.parametrize("name", ["agent_anthropic", "agent_openai", "agent_local"])
def test_without_a_question(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert load(name).main([]) == 2
    assert capsys.readouterr().err.startswith(f"usage: python examples/{name}.py ")


# ---- the models refuse what the services refuse ------------------------------------------------------

WHO = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/messages", {"max_tokens": 9, "messages": WHO}, "model: field required"),
        ("/v1/messages", {"model": "m", "messages": WHO}, "max_tokens: field required"),
        ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": []}, "first message must be"),
        ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": WHO, "temperature": 0}, "not supported"),
        (
            "/v1/messages",
            {
                "model": "m", "max_tokens": 9,
                "messages": [
                    *WHO, {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_0_0"}]}, *WHO
                ],
            },
            "no tool output found for call toolu_0_0",
        ),
        (
            "/v1/messages",
            {"model": "m", "max_tokens": 9, "messages": WHO, "tools": [{"name": "a b"}]},
            "no name",
        ),
        ("/v1/messages", {"model": "m", "max_tokens": 9, "messages": [{"role": "user"}]}, "malformed"),
        ("/v1/other", {"model": "m"}, "no such path"),
    ],
)  # fmt: skip
def test_the_anthropic_model_is_as_strict_as_the_service(path: str, body: dict[str, Any], told: str) -> None:
    with AnthropicSimulator([Say("hi")]) as model, pytest.raises(AssertionError, match=told):
        post(f"{model.base_url}{path}", body)


@pytest.mark.parametrize(
    ("path", "body", "told"),
    [
        ("/v1/responses", {"input": "hello"}, "model: field required"),
        (
            "/v1/responses",
            {"model": "m", "input": [{"type": "function_call", "call_id": "call_0_0"}]},
            "no tool output found for call call_0_0",
        ),
        (
            "/v1/responses",
            {"model": "m", "input": [{"type": "function_call_output", "call_id": "x", "output": ""}]},
            "a tool output without its call: x",
        ),
        (
            "/v1/responses",
            {
                "model": "m", "input": "hello",
                "tools": [
                    {"type": "function", "name": "t", "strict": True,
                     "parameters": {"type": "object", "properties": {"a": {}}, "required": []}}
                ],
            },
            "strict wants every property required",
        ),
        ("/v1/chat/completions", {"model": "m", "messages": [{"role": "tool", "content": ""}]}, "malformed"),
        ("/v1/other", {"model": "m"}, "no such path"),
    ],
)  # fmt: skip
def test_the_openai_model_is_as_strict_as_the_service(path: str, body: dict[str, Any], told: str) -> None:
    with OpenAISimulator([Say("hi")]) as model, pytest.raises(AssertionError, match=told):
        post(f"{model.base_url}{path}", body)


def test_strict_schemas_are_taken(box: ToolBox) -> None:
    from webfetch_core import TOOLS, to_openai

    tools = [to_openai(tool, strict=True) for tool in TOOLS]
    with OpenAISimulator([Say("hi")]) as model:
        assert post(f"{model.base_url}/v1/responses", {"model": "m", "input": "x", "tools": tools})
