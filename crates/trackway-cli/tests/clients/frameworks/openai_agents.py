"""The MCP server class of OpenAI's agents SDK as it comes, over HTTP.

    openai_agents.py URL WORKFLOW

Lists the tools, starts the workflow and answers each step until it is complete. Prints one JSON line for
each thing that it did.
"""

import asyncio
import json
import sys

from agents.mcp import MCPServerStreamableHttp
from walk import walk

URL, WORKFLOW = sys.argv[1:]


async def main():
    async with MCPServerStreamableHttp(params={"url": URL}, client_session_timeout_seconds=60) as server:
        tools = [tool.name for tool in await server.list_tools()]
        print(json.dumps({"op": "tools", "tools": tools}), flush=True)

        async def call(name, arguments):
            result = await server.call_tool(name, arguments)
            dumped = result.model_dump(mode="json", by_alias=True)
            return dumped["structuredContent"]

        await walk(call, WORKFLOW)
    print(json.dumps({"op": "closed"}), flush=True)


asyncio.run(main())
