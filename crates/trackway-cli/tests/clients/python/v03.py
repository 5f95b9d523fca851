"""The official client of protocol 0.3 (a2a-sdk 0.3.x) against one agent, over one binding.

    v03.py AGENT_URL BINDING START ANSWER

START begins a run that asks something, ANSWER lets it complete; both are JSON, a string being text and
anything else data. Prints one line of JSON for each thing it did. The test that starts it judges; this
only speaks the protocol.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    DataPart,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationConfig,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TextPart,
)
from hook import Hook

URL, BINDING, START, ANSWER = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
TOKEN = "a-token-of-the-client"


def tell(op, **what):
    print(json.dumps({"op": op, **what}), flush=True)


def told(task):
    artifacts = [artifact.artifact_id for artifact in task.artifacts or []]
    return {"state": task.status.state.value, "artifacts": artifacts}


def short(task, update):
    """One event of a stream, in one word."""
    if update is None:
        return f"task {task.status.state.value}"
    if isinstance(update, TaskArtifactUpdateEvent):
        return f"+{update.artifact.artifact_id}"
    return update.status.state.value


def message(value, task=None):
    part = TextPart(text=value) if isinstance(value, str) else DataPart(data=value)
    return Message(
        message_id=str(uuid.uuid4()),
        role=Role.user,
        parts=[Part(root=part)],
        task_id=task.id if task else None,
        context_id=task.context_id if task else None,
    )


async def send(client, value, task=None):
    """Sends without a stream and returns the task as it was answered."""
    return [task async for task, _ in client.send_message(message(value, task))][-1]


async def main():
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        card = await A2ACardResolver(http, URL).get_agent_card()

        def client(**more):
            config = ClientConfig(
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_transports=[BINDING],
                use_client_preference=True,
                **more,
            )
            return ClientFactory(config).create(card)

        plain, streaming = client(streaming=False), client(streaming=True)
        tell("card", name=card.name, versions=[card.protocol_version])

        task = await send(plain, START)
        tell("send", **told(task))
        task = await send(plain, ANSWER, task)
        tell("resume", **told(task))
        task = await plain.get_task(TaskQueryParams(id=task.id, history_length=1))
        tell("get", history=len(task.history or []), **told(task))

        events = [short(*event) async for event in streaming.send_message(message(START))]
        tell("stream", events=events)

        await resubscribe(plain, streaming)

        task = await send(plain, START)
        tell("cancel", **told(await plain.cancel_task(TaskIdParams(id=task.id))))

        await push(client)
        await push_configs(plain)


async def resubscribe(plain, streaming):
    """Loses a stream after its first event and takes the task up again with another one."""
    stream = streaming.send_message(message(START))
    task, _ = await anext(stream)
    await stream.aclose()
    seen, answering = [], None
    async for event in streaming.resubscribe(TaskIdParams(id=task.id)):
        seen.append(short(*event))
        if answering is None and seen[-1].endswith("input-required"):
            answering = asyncio.create_task(send(plain, ANSWER, task))
    await answering
    tell("resubscribe", events=seen)


async def push(client):
    """A target named in the message itself hears of the run until its end."""
    hook = Hook()
    target = PushNotificationConfig(url=hook.url, token=TOKEN)
    pushing = client(streaming=False, push_notification_configs=[target])
    task = await send(pushing, START)
    await send(client(streaming=False), ANSWER, task)

    def state_of(body):
        return body["status"]["state"]

    taken = await asyncio.to_thread(hook.until, state_of, "completed")
    tell(
        "push",
        states=[state_of(body) for _, body in taken],
        token=all(headers.get("x-a2a-notification-token") == TOKEN for headers, _ in taken),
        type=taken[-1][0].get("content-type"),
    )


async def push_configs(plain):
    """A configuration is made and found; this client can do no more with them."""
    task = await send(plain, START)
    config = PushNotificationConfig(id="mine", url=Hook().url)
    made = await plain.set_task_callback(
        TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)
    )
    found = await plain.get_task_callback(
        GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id="mine")
    )
    tell(
        "push-configs",
        made=made.push_notification_config.id,
        found=found.push_notification_config.url == config.url,
    )


asyncio.run(main())
