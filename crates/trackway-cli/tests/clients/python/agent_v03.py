"""The official client of protocol 0.3 (a2a-sdk 0.3.x) on a string, over one binding.

    agent_v03.py BINDING [KEY]

Every line names the `agent` by its address. Tasks and events are told in the words of the protocol.
"""

import asyncio
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, TaskIdParams, TaskQueryParams
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
            supported_transports=[BINDING],
            use_client_preference=True,
            **more,
        )
        return ClientFactory(config).create(card)

    async def card(self, agent):
        return written(await A2ACardResolver(self.http, agent).get_agent_card())

    async def extended(self, agent):
        return written(await (await self.client(agent)).get_card())

    async def send(self, agent, message, wait=True):
        client = await self.client(agent, streaming=False, polling=not wait)
        return written([task async for task, _ in client.send_message(said(message))][-1])

    async def stream(self, agent, message):
        client = await self.client(agent, streaming=True)
        async for task, update in client.send_message(said(message)):
            yield written(task if update is None else update)

    async def get(self, agent, id):
        return written(await (await self.client(agent)).get_task(TaskQueryParams(id=id)))

    async def cancel(self, agent, id):
        return written(await (await self.client(agent)).cancel_task(TaskIdParams(id=id)))


def written(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def said(message):
    return Message.model_validate({"messageId": str(uuid.uuid4()), "role": "user", **message})


async def main():
    headers = {} if KEY is None else {"Authorization": f"Bearer {KEY}"}
    async with httpx.AsyncClient(timeout=60, trust_env=False, headers=headers) as http:
        await serve(Does(http))


asyncio.run(main())
