"""Strands Agents as they come: an agent elsewhere, called like one of one's own.

    strands_agents.py MODES AGENT MESSAGE...

MODES is what the client takes, with commas; empty: it does not say. Each message is a call of its own, since this class keeps no conversation; prints the text of each result.
"""

import asyncio
import json
import sys

import httpx
from a2a.client import ClientConfig
from strands.agent.a2a_agent import A2AAgent

MODES, AGENT, *MESSAGES = sys.argv[1:]


def config():
    """Strands' own unless the client says what it takes."""
    if not MODES:
        return None
    http = httpx.AsyncClient(timeout=60)
    return ClientConfig(httpx_client=http, accepted_output_modes=MODES.split(","))


async def main():
    agent = A2AAgent(endpoint=AGENT, timeout=60, client_config=config())
    for message in MESSAGES:
        result = await agent.invoke_async(message)
        print(json.dumps({"text": str(result), "stop": result.stop_reason}), flush=True)


asyncio.run(main())
