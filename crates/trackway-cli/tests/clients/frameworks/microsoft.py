"""Microsoft's agent framework as it comes: an agent elsewhere, in one session.

    microsoft.py AGENT MESSAGE...

Prints the text of each response: of a call that waits, and of a stream.
"""

import asyncio
import json
import sys

from agent_framework_a2a import A2AAgent

AGENT, *MESSAGES = sys.argv[1:]


async def main():
    async with A2AAgent(name="remote", url=AGENT, timeout=60) as agent:
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
