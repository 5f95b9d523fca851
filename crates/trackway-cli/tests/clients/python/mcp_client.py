"""The official MCP client on a string: it does what each line on stdin says and tells what it saw.

    mcp_client.py MODE CONSENT http URL [KEY]
    mcp_client.py MODE CONSENT stdio COMMAND ARG...

MODE is `auto` (newest revision) or `legacy` (the handshake of the older ones). CONSENT is `none` (the
client declares no elicitation), `accept`, `decline` or `cancel`. A line is {"op": "tools"} or
{"op": "call", "name": ..., "arguments": ...}; `calls` takes a list of calls and makes them all at once.
Every line is answered by one line of JSON; end of input ends the client.
"""

import asyncio
import json
import sys

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ElicitResult


def server(kind, rest):
    if kind == "http":
        url, *key = rest
        if not key:
            return url
        headers = {"Authorization": f"Bearer {key[0]}"}
        return streamable_http_client(url, http_client=httpx2.AsyncClient(headers=headers))
    return StdioServerParameters(command=rest[0], args=rest[1:])


def elicitation(consent, asked):
    if consent == "none":
        return None

    async def answer(_context, params):
        asked.append(params.message)
        schema = params.requested_schema if hasattr(params, "requested_schema") else params.requestedSchema
        fields = {name: True for name in schema.get("properties", {})}
        content = fields if consent == "accept" else None
        return ElicitResult(action=consent, content=content)

    return answer


async def call(client, asked, told):
    before = len(asked)
    try:
        result = await client.call_tool(told["name"], told.get("arguments"))
    except Exception as error:  # told to the test, which expects none
        return {"raised": f"{type(error).__name__}: {error}"}
    return {
        "text": [part.text for part in result.content if part.type == "text"],
        "structured": result.structured_content,
        "isError": bool(result.is_error),
        "asked": asked[before:],
    }


async def main():
    mode, consent, kind, *rest = sys.argv[1:]
    asked = []
    client = Client(
        server(kind, rest), mode=mode, elicitation_callback=elicitation(consent, asked)
    )
    async with client:
        print(json.dumps({"protocol": client.protocol_version}), flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            told = json.loads(line)
            if told["op"] == "tools":
                listed = await client.list_tools()
                answer = [tool.model_dump(mode="json", by_alias=True) for tool in listed.tools]
            elif told["op"] == "calls":
                answer = await asyncio.gather(*(call(client, asked, one) for one in told["calls"]))
            else:
                answer = await call(client, asked, told)
            print(json.dumps(answer), flush=True)


asyncio.run(main())
