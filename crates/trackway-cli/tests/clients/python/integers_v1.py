"""The official client of protocol 1.0 (a2a-sdk 1.x) sends one message over one binding.

    integers_v1.py AGENT_URL BINDING INPUT

INPUT is JSON. Its numbers become floats on the way: Protobuf's `Struct` has no integers. Prints the state
that the task comes to.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import ParseDict

URL, BINDING, INPUT = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


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
        message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", "parts": [{"data": INPUT}]}
        request = ParseDict({"message": message}, pb.SendMessageRequest())
        task = [event async for event in client.send_message(request)][-1].task
        print(pb.TaskState.Name(task.status.state), flush=True)
        await client.close()


asyncio.run(main())
