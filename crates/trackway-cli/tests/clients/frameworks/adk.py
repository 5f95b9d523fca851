"""Google ADK as it comes: a remote agent behind a runner.

    adk.py MODES AGENT MESSAGE...

MODES is what the client takes, with commas; empty: it does not say. Says each message in one session and prints what a program that uses ADK gets for each: the text of the
last final response, what it is asked (ADK makes a function call of a question), and errors.
"""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig, ClientFactory
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai import types

MODES, AGENT, *MESSAGES = sys.argv[1:]


def factory():
    """ADK's own unless the client says what it takes."""
    if not MODES:
        return None
    modes = MODES.split(",")
    http = httpx.AsyncClient(timeout=60)
    return ClientFactory(ClientConfig(httpx_client=http, accepted_output_modes=modes))


def text(event):
    return "".join(part.text or "" for part in event.content.parts if not part.thought)


def answers(event):
    """Whether a program takes the event for an answer, as ADK's own AgentTool does."""
    return event.is_final_response() and event.content and event.content.parts


async def main():
    card = f"{AGENT}/.well-known/agent-card.json"
    remote = RemoteA2aAgent(name="remote", agent_card=card, timeout=60, a2a_client_factory=factory())
    runner = InMemoryRunner(agent=remote, app_name="test")
    session = await runner.session_service.create_session(app_name="test", user_id="user")
    for message in MESSAGES:
        said = types.Content(role="user", parts=[types.Part(text=message)])
        events = [
            event
            async for event in runner.run_async(
                user_id="user", session_id=session.id, new_message=said
            )
        ]
        finals = [text(event) for event in events if answers(event)]
        calls = [call for event in events for call in event.get_function_calls()]
        told = {
            "text": finals[-1] if finals else None,
            "asks": [call.args["input_required"] for call in calls],
            "errors": [event.error_message for event in events if event.error_message],
        }
        print(json.dumps(told), flush=True)


asyncio.run(main())
