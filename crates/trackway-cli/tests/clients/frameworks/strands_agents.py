"""Strands Agents as they come: an agent elsewhere, called like one of one's own.

    strands_agents.py AGENT MESSAGE...

Each message is a call of its own, since this class keeps no conversation; prints the text of each result.
"""

import asyncio
import json
import sys

from strands.agent.a2a_agent import A2AAgent

AGENT, *MESSAGES = sys.argv[1:]


async def main():
    agent = A2AAgent(endpoint=AGENT, timeout=60)
    for message in MESSAGES:
        result = await agent.invoke_async(message)
        print(json.dumps({"text": str(result), "stop": result.stop_reason}), flush=True)


asyncio.run(main())
