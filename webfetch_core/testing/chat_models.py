"""Language models on the loopback address that say what they are told to, over their vendors' interfaces.

``AnthropicSimulator`` speaks the Messages API, ``OpenAISimulator`` Responses and Chat Completions. Each
plays a script, one step a turn, and refuses what the real service refuses of a loop with tools: calls
without results, results without calls, schemas that it does not take. The state is in the requests alone.

Example::

    script = [Use("web_search", {"query": "lamp"}), lambda results: Say(results[-1][:20])]
    with AnthropicSimulator(script) as model:
        client = anthropic.Anthropic(base_url=model.base_url, api_key="any")
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from attrs import Factory, frozen

from .site import LoopbackSite
from .site_server import Received, Reply


@frozen
class Say:
    """A turn that ends the conversation with ``text``."""

    text: str


@frozen
class Use:
    """A call of a tool. A step that is a list of these calls them at the same time."""

    name: str
    input: Mapping[str, Any] = Factory(dict)


Step = Say | Use | Sequence[Use]
Script = Sequence[Step | Callable[[list[str]], Step]]
"""A callable gets the texts of all tool results so far, oldest first."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_CALL = re.compile(r"(?:call|toolu)_(\d+)_\d+\Z")


class _Refused(Exception):
    """What the service would refuse, with its status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


class _Simulator(LoopbackSite):
    """A model that plays ``script``. ``bodies`` are the requests so far, as JSON data."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self.bodies: list[dict[str, Any]] = []

    def _answer(self, request: Received) -> Reply:
        try:
            try:
                return _json(self._reply_to(request))
            except (AttributeError, IndexError, KeyError, TypeError) as exc:
                raise _Refused(f"malformed request: {exc!r}") from exc
        except _Refused as exc:
            return _json(self._error(str(exc), exc.status), exc.status)

    def _reply_to(self, request: Received) -> dict[str, Any]:
        raise NotImplementedError

    def _error(self, message: str, status: int) -> dict[str, Any]:
        raise NotImplementedError

    def _turn(self, calls: Sequence[str], results: list[str]) -> tuple[int, Step]:
        """The number of this turn and what the model does: one after the last turn that made a call."""
        told = [int(found[1]) for found in map(_CALL.match, calls) if found]
        turn = max(told, default=-1) + 1
        step = self.script[min(turn, len(self.script) - 1)]
        return turn, step(results) if callable(step) else step

    def _read(self, request: Received) -> dict[str, Any]:
        if request.method != "POST":
            raise _Refused("method not allowed", 405)
        try:
            body = json.loads(request.body)
        except ValueError:
            raise _Refused("the body is not JSON") from None
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            raise _Refused("model: field required")
        self.bodies.append(body)
        return body

    @staticmethod
    def _matched(calls: Sequence[str], results: Sequence[str]) -> None:
        if missing := [call for call in calls if call not in results]:
            raise _Refused(f"no tool output found for call {', '.join(missing)}")
        if odd := [call for call in results if call not in calls]:
            raise _Refused(f"a tool output without its call: {', '.join(odd)}")


def _uses(step: Step) -> Sequence[Use]:
    return () if isinstance(step, Say) else (step,) if isinstance(step, Use) else step


def _json(data: Any, status: int = 200) -> Reply:
    return Reply(body=json.dumps(data).encode(), status=status, headers={"Content-Type": "application/json"})


# ---- Anthropic -----------------------------------------------------------------------------------


class AnthropicSimulator(_Simulator):
    """The Messages API, ``POST /v1/messages``, as of the versions 2023-06-01 and 2026-10-21."""

    def _error(self, message: str, status: int) -> dict[str, Any]:
        kinds = {401: "authentication_error", 404: "not_found_error"}
        kind = kinds.get(status, "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def _reply_to(self, request: Received) -> dict[str, Any]:
        if request.path != "/v1/messages":
            raise _Refused(f"no such path: {request.path}", 404)
        if not (
            "x-api-key" in request.headers or "bearer " in request.headers.get("authorization", "").lower()
        ):
            raise _Refused("authentication is required", 401)
        body = self._read(request)
        if "anthropic-version" not in request.headers:
            raise _Refused("anthropic-version: header is required")
        if not isinstance(body.get("max_tokens"), int):
            raise _Refused("max_tokens: field required")
        if request.headers["anthropic-version"] >= "2026-10-21" and {"temperature", "top_p", "top_k"} & set(
            body
        ):
            raise _Refused("temperature, top_p and top_k are not supported")
        if json.dumps(body).count('"cache_control"') > 4:
            raise _Refused("a maximum of 4 blocks with cache_control may be provided")
        for tool in body.get("tools", ()):
            _check_schema(tool.get("name"), tool.get("input_schema"))
        calls, results = self._conversation(body.get("messages"))
        turn, step = self._turn(calls, results)
        content: list[dict[str, Any]] = [{"type": "text", "text": step.text}] if isinstance(step, Say) else []
        content += [
            {"type": "tool_use", "id": f"toolu_{turn}_{n}", "name": use.name, "input": dict(use.input)}
            for n, use in enumerate(_uses(step))
        ]
        return {
            "id": f"msg_{turn}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "stop_reason": "end_turn" if isinstance(step, Say) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": len(request.body) // 4, "output_tokens": 20},
        }

    @staticmethod
    def _conversation(messages: Any) -> tuple[list[str], list[str]]:
        """All calls, and the texts of all results; each result directly after its call."""
        if not isinstance(messages, list) or not messages or messages[0].get("role") != "user":
            raise _Refused("messages: the first message must be of the user")
        calls: list[str] = []
        texts: list[str] = []
        open_calls: list[str] = []
        for message in messages:
            blocks = message["content"]
            blocks = [{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks
            results = [block for block in blocks if block["type"] == "tool_result"]
            _Simulator._matched(open_calls, [block["tool_use_id"] for block in results])
            texts += [_text_of(block.get("content", "")) for block in results]
            open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
            calls += open_calls
        if messages[-1].get("role") != "user":
            raise _Refused("messages: the last message must be of the user")
        return calls, texts


# ---- OpenAI --------------------------------------------------------------------------------------


class OpenAISimulator(_Simulator):
    """``POST /v1/responses`` and ``POST /v1/chat/completions``. ``base_url`` ends before ``/v1``."""

    def _error(self, message: str, status: int) -> dict[str, Any]:
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}

    def _reply_to(self, request: Received) -> dict[str, Any]:
        if "bearer " not in request.headers.get("authorization", "").lower():
            raise _Refused("no API key was provided", 401)
        if request.path == "/v1/responses":
            return self._response(self._read(request))
        if request.path == "/v1/chat/completions":
            return self._completion(self._read(request))
        raise _Refused(f"no such path: {request.path}", 404)

    def _response(self, body: dict[str, Any]) -> dict[str, Any]:
        for tool in body.get("tools", ()):
            if tool.get("type") == "function":
                _check_schema(tool.get("name"), tool.get("parameters"), strict=tool.get("strict") is True)
        items = body.get("input")
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items or []
        calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
        outputs = [item for item in items if item.get("type") == "function_call_output"]
        self._matched(calls, [item["call_id"] for item in outputs])
        turn, step = self._turn(calls, [_text_of(item["output"]) for item in outputs])
        return {
            "id": f"resp_{turn}",
            "object": "response",
            "created_at": 1_796_000_000,
            "status": "completed",
            "model": body["model"],
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": {},
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body.get("tools", []),
            "output": list(_output(turn, step)),
            "usage": {
                "input_tokens": len(json.dumps(body)) // 4,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 20,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": len(json.dumps(body)) // 4 + 20,
            },
        }

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        for tool in body.get("tools", ()):
            function = tool.get("function", {})
            _check_schema(
                function.get("name"), function.get("parameters"), strict=function.get("strict") is True
            )
        messages = body.get("messages") or []
        calls = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        outputs = [message for message in messages if message.get("role") == "tool"]
        self._matched(calls, [message["tool_call_id"] for message in outputs])
        turn, step = self._turn(calls, [_text_of(message["content"]) for message in outputs])
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        if isinstance(step, Say):
            message["content"] = step.text
        else:
            message["tool_calls"] = [
                {
                    "id": f"call_{turn}_{n}",
                    "type": "function",
                    "function": {"name": use.name, "arguments": json.dumps(dict(use.input))},
                }
                for n, use in enumerate(_uses(step))
            ]
        reason = "stop" if isinstance(step, Say) else "tool_calls"
        return {
            "id": f"chatcmpl-{turn}",
            "object": "chat.completion",
            "created": 1_796_000_000,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        }


def _output(turn: int, step: Step) -> Iterator[dict[str, Any]]:
    if isinstance(step, Say):
        part = {"type": "output_text", "text": step.text, "annotations": [], "logprobs": []}
        yield {
            "id": f"msg_{turn}", "type": "message", "role": "assistant", "status": "completed",
            "content": [part],
        }  # fmt: skip
    for n, use in enumerate(_uses(step)):
        yield {
            "id": f"fc_{turn}_{n}", "type": "function_call", "call_id": f"call_{turn}_{n}",
            "name": use.name, "arguments": json.dumps(dict(use.input)), "status": "completed",
        }  # fmt: skip


# ---- what both refuse ----------------------------------------------------------------------------


def _check_schema(name: Any, schema: Any, *, strict: bool = False) -> None:
    if not isinstance(name, str) or not _NAME.match(name):
        raise _Refused(f"tools: {name!r} is no name of a tool")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise _Refused(f"tools.{name}: the schema must be an object's")
    properties = schema.get("properties", {})
    if strict and (
        schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties)
    ):
        raise _Refused(f"invalid schema for function {name}: strict wants every property required")


def _text_of(content: Any) -> str:
    """The text of a tool's result: as it is, or of its text blocks."""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)
