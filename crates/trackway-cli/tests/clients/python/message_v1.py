"""The official client of protocol 1.0 (a2a-sdk 1.x) sends one message over one binding.

    message_v1.py AGENT_URL BINDING MESSAGE

MESSAGE is the JSON of a message without its id. Prints the task that it gets, as JSON.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict

URL, BINDING, MESSAGE = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


async def main():
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        http.headers["A2A-Version"] = "1.0"
        card = await A2ACardResolver(http, URL).get_agent_card()
        config = ClientConfig(
            httpx_client=http,
            grpc_channel_factory=grpc.aio.insecure_channel,
            supported_protocol_bindings=[BINDING],
            streaming=False,
        )
        client = ClientFactory(config).create(card)
        message = {"messageId": str(uuid.uuid4()), **MESSAGE}
        request = ParseDict({"message": message}, pb.SendMessageRequest())
        task = [event async for event in client.send_message(request)][-1].task
        print(json.dumps(MessageToDict(task)), flush=True)
        await client.close()


asyncio.run(main())
