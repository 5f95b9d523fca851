"""The official A2A client runs `invest` from its start to the receipt, over streams.

Takes the agent's address and prints one JSON object: what the card said, and what each of the three
streams showed. The test that starts it judges; this only speaks the protocol.
"""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import DataPart, Message, Part, Role, Task, TaskArtifactUpdateEvent, TextPart


def message(part, task=None):
    return Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[Part(root=part)],
        task_id=task.id if task else None,
        context_id=task.context_id if task else None,
    )


def short(update):
    """One event: what kind it is and what it says."""
    if update is None:
        return {"kind": "task"}
    if isinstance(update, TaskArtifactUpdateEvent):
        return {"kind": update.kind, "artifact": update.artifact.artifact_id}
    said = update.status.message
    parts = [part.root for part in said.parts] if said else []
    return {
        "kind": update.kind,
        "state": update.status.state.value,
        "final": update.final,
        "text": next((part.text for part in parts if isinstance(part, TextPart)), None),
        "data": next((part.data for part in parts if isinstance(part, DataPart)), None),
        "schema": (parts[0].metadata or {}).get("schema") if parts else None,
        "metadata": update.metadata,
    }


async def tell(client, part, task=None):
    """Sends one message and follows its stream to the end."""
    seen = []
    async for current, update in client.send_message(message(part, task)):
        assert isinstance(current, Task)
        task = current
        seen.append(short(update))
    return task, seen


async def main(url):
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        card = await A2ACardResolver(http, url).get_agent_card()
        client = ClientFactory(ClientConfig(httpx_client=http, streaming=True)).create(card)
        task, start = await tell(client, DataPart(data={"walletAddress": "0x123"}))
        task, form = await tell(client, DataPart(data={"walletAddress": "0x123", "amount": 7.5}), task)
        task, signature = await tell(client, TextPart(text="signed in Python"), task)
        told = {
            "card": {"name": card.name, "url": card.url, "streaming": card.capabilities.streaming},
            "streams": [start, form, signature],
            "state": task.status.state.value,
            "artifacts": [
                {"id": artifact.artifact_id, "data": artifact.parts[0].root.data}
                for artifact in task.artifacts or []
            ],
        }
        print(json.dumps(told))


asyncio.run(main(sys.argv[1]))
