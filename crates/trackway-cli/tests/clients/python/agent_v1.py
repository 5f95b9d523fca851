"""The official client of protocol 1.0 (a2a-sdk 1.x) on a string, over one binding.

    agent_v1.py BINDING [KEY]

Every line names the `agent` by its address. Tasks and events are told in the words of the protocol.
"""

import asyncio
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from on_a_string import channels, serve

BINDING, KEY = sys.argv[1], (sys.argv[2:] or [None])[0]


class Does:
    def __init__(self, http):
        self.http = http

    async def client(self, agent, **more):
        card = await A2ACardResolver(self.http, agent).get_agent_card()
        config = ClientConfig(
            httpx_client=self.http,
            grpc_channel_factory=channels(KEY),
            supported_protocol_bindings=[BINDING],
            **more,
        )
        return ClientFactory(config).create(card)

    async def card(self, agent):
        return MessageToDict(await A2ACardResolver(self.http, agent).get_agent_card())

    async def extended(self, agent):
        client = await self.client(agent)
        return MessageToDict(await client.get_extended_agent_card(pb.GetExtendedAgentCardRequest()))

    async def send(self, agent, message, wait=True):
        client = await self.client(agent, streaming=False, polling=not wait)
        answer = [event async for event in client.send_message(request(message))][-1]
        return MessageToDict(answer.task)

    async def stream(self, agent, message):
        client = await self.client(agent, streaming=True)
        async for event in client.send_message(request(message)):
            yield MessageToDict(event)

    async def get(self, agent, id):
        return MessageToDict(await (await self.client(agent)).get_task(pb.GetTaskRequest(id=id)))

    async def cancel(self, agent, id):
        client = await self.client(agent)
        return MessageToDict(await client.cancel_task(pb.CancelTaskRequest(id=id)))

    async def list(self, agent, context):
        client = await self.client(agent)
        found = await client.list_tasks(pb.ListTasksRequest(context_id=context))
        return MessageToDict(found).get("tasks", [])


def request(message):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER", **message}
    return ParseDict({"message": message}, pb.SendMessageRequest())


async def main():
    headers = {"A2A-Version": "1.0"}
    if KEY is not None:
        headers["Authorization"] = f"Bearer {KEY}"
    async with httpx.AsyncClient(timeout=60, trust_env=False, headers=headers) as http:
        await serve(Does(http))


asyncio.run(main())
