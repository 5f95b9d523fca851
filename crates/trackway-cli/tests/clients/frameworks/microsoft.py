"""Microsoft's agent framework as it comes: an agent elsewhere, in one session.

    microsoft.py MODES AGENT MESSAGE...

MODES is what the client takes, with commas; empty: it does not say. Prints the text of each response: of a call that waits, and of a stream.
"""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from agent_framework_a2a import A2AAgent

MODES, AGENT, *MESSAGES = sys.argv[1:]


async def connect():
    if not MODES:
        return A2AAgent(name="remote", url=AGENT, timeout=60)
    http = httpx.AsyncClient(timeout=60)
    card = await A2ACardResolver(http, AGENT).get_agent_card()
    config = ClientConfig(httpx_client=http, accepted_output_modes=MODES.split(","))
    return A2AAgent(name="remote", client=ClientFactory(config).create(card))


async def main():
    async with await connect() as agent:
        for stream in [False, True]:
            session = agent.create_session()
            for message in MESSAGES:
                if stream:
                    answering = agent.run(message, stream=True, session=session)
                    response = await answering.get_final_response()
                else:
                    response = await agent.run(message, session=session)
                asks = [request.text for request in response.user_input_requests]
                told = {"stream": stream, "text": response.text, "asks": asks}
                print(json.dumps(told), flush=True)


asyncio.run(main())
