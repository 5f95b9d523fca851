"""The official client of protocol 0.3 (a2a-sdk 0.3.x) sends one message over one binding.

    message_v03.py AGENT_URL BINDING MESSAGE

MESSAGE is the JSON of a message of 0.3 without its id. Prints the task that it gets, as JSON.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message

URL, BINDING, MESSAGE = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


async def main():
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        card = await A2ACardResolver(http, URL).get_agent_card()
        config = ClientConfig(
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_transports=[BINDING],
            use_client_preference=True,
            streaming=False,
        )
        client = ClientFactory(config).create(card)
        message = Message.model_validate({"messageId": str(uuid.uuid4()), **MESSAGE})
        task = [task async for task, _ in client.send_message(message)][-1]
        print(task.model_dump_json(by_alias=True, exclude_none=True), flush=True)


asyncio.run(main())
