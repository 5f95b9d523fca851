"""fastmcp's client as it comes, over HTTP.

    fastmcp_client.py URL WORKFLOW

Lists the tools, starts the workflow and answers each step until it is complete. Prints one JSON line for
each thing that it did.
"""

import asyncio
import json
import sys

from fastmcp import Client
from walk import walk

URL, WORKFLOW = sys.argv[1:]


async def main():
    async with Client(URL) as client:
        tools = [tool.name for tool in await client.list_tools()]
        print(json.dumps({"op": "tools", "tools": tools}), flush=True)

        async def call(name, arguments):
            return (await client.call_tool(name, arguments)).structured_content

        await walk(call, WORKFLOW)
    print(json.dumps({"op": "closed"}), flush=True)


asyncio.run(main())
