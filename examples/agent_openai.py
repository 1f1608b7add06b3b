"""An agent that searches the web, with OpenAI's Responses API.

pip install openai && export OPENAI_API_KEY=...
python examples/agent_openai.py "who keeps the lighthouse of Tarn now?"
"""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

from webfetch_core import ToolBox, Webfetch, system_note, to_openai

MODEL = "gpt-6.1-terra"
TURNS = 12
"""A model that has not answered by then is going round in circles."""


def answer(question: str, client: Any, box: ToolBox, now: datetime) -> str:
    """Let the model search and read until it answers. ``client`` is an ``openai.OpenAI``."""
    tools = [to_openai(tool) for tool in box.tools()]
    items: list[Any] = [{"role": "user", "content": question}]
    for _ in range(TURNS):
        # Today's date is in the instructions: without it, models take the end of their training for today.
        reply = client.responses.create(model=MODEL, instructions=system_note(now), tools=tools, input=items)
        items += reply.output
        calls = [item for item in reply.output if item.type == "function_call"]
        if not calls:
            said = (part for item in reply.output if item.type == "message" for part in item.content)
            return "".join(part.text for part in said if part.type == "output_text")
        for call in calls:
            print(f"{call.name} {call.arguments}", file=sys.stderr)
            # Never raises, takes the arguments as they came, and puts every failure into words.
            text = box.handle(call.name, call.arguments)
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": text})
    return f"No answer after {TURNS} turns."


def main(arguments: list[str]) -> int:
    """Answer the question that the arguments are."""
    if not arguments:
        print('usage: python examples/agent_openai.py "QUESTION"', file=sys.stderr)
        return 2
    import openai

    with Webfetch() as wf:  # the user's own settings, all installed plugins
        print(answer(" ".join(arguments), openai.OpenAI(), ToolBox(wf), datetime.now()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
