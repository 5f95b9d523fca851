"""The official client of protocol 1.0 (a2a-sdk 1.x) against one agent, over one binding.

    v1.py AGENT_URL BINDING START ANSWER

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
from a2a.types import a2a_pb2 as pb
from google.protobuf.json_format import MessageToDict, ParseDict
from hook import Hook

URL, BINDING, START, ANSWER = sys.argv[1], sys.argv[2], *map(json.loads, sys.argv[3:5])
TOKEN = "a-token-of-the-client"


def tell(op, **what):
    print(json.dumps({"op": op, **what}), flush=True)


def state(status):
    return pb.TaskState.Name(status.state).removeprefix("TASK_STATE_").lower().replace("_", "-")


def told(task):
    return {"state": state(task.status), "artifacts": [artifact.artifact_id for artifact in task.artifacts]}


def short(event):
    """One event of a stream, in one word."""
    kind = event.WhichOneof("payload")
    if kind == "task":
        return f"task {state(event.task.status)}"
    if kind == "status_update":
        return state(event.status_update.status)
    if kind == "artifact_update":
        return f"+{event.artifact_update.artifact.artifact_id}"
    return kind


def request(value, task=None, context=None):
    message = {"messageId": str(uuid.uuid4()), "role": "ROLE_USER"}
    message["parts"] = [{"text": value} if isinstance(value, str) else {"data": value}]
    if task is not None:
        message["taskId"], message["contextId"] = task.id, task.context_id
    elif context is not None:
        message["contextId"] = context
    return ParseDict({"message": message}, pb.SendMessageRequest())


async def send(client, value, task=None, context=None):
    """Sends without a stream and returns the task as it was answered."""
    return [event async for event in client.send_message(request(value, task, context))][-1].task


async def main():
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        http.headers["A2A-Version"] = "1.0"
        card = await A2ACardResolver(http, URL).get_agent_card()

        def client(**more):
            config = ClientConfig(
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[BINDING],
                **more,
            )
            return ClientFactory(config).create(card)

        plain, streaming = client(streaming=False), client(streaming=True)
        tell("card", name=card.name, versions=sorted({i.protocol_version for i in card.supported_interfaces}))

        task = await send(plain, START)
        tell("send", **told(task))
        task = await send(plain, ANSWER, task)
        tell("resume", **told(task))
        task = await plain.get_task(pb.GetTaskRequest(id=task.id, history_length=1))
        tell("get", history=len(task.history), **told(task))

        tell("stream", events=[short(event) async for event in streaming.send_message(request(START))])

        await resubscribe(plain, streaming)

        task = await send(plain, START)
        tell("cancel", **told(await plain.cancel_task(pb.CancelTaskRequest(id=task.id))))

        await list_them(plain)
        await push(plain)
        await push_configs(plain)
        await streaming.close()


async def resubscribe(plain, streaming):
    """Loses a stream after its first event and takes the task up again with another one."""
    stream = streaming.send_message(request(START))
    task = (await anext(stream)).task
    await stream.aclose()
    seen, answering = [], None
    async for event in streaming.subscribe(pb.SubscribeToTaskRequest(id=task.id)):
        seen.append(short(event))
        if answering is None and seen[-1].endswith("input-required"):
            answering = asyncio.create_task(send(plain, ANSWER, task))
    await answering
    tell("resubscribe", events=seen)


async def list_them(plain):
    """Two tasks of one context, a page each. The first has ended: else the second message answered it."""
    context = str(uuid.uuid4())
    made = []
    for _ in range(2):
        task = await send(plain, START, context=context)
        made.append((await send(plain, ANSWER, task)).id)
    first = await plain.list_tasks(pb.ListTasksRequest(context_id=context, page_size=1))
    rest = await plain.list_tasks(
        pb.ListTasksRequest(
            context_id=context, page_size=1, page_token=first.next_page_token, include_artifacts=True
        )
    )
    tell(
        "list",
        newest_first=[task.id for task in [*first.tasks, *rest.tasks]] == made[::-1],
        total=first.total_size,
        artifacts=[len(page.tasks[0].artifacts) for page in (first, rest)],
        last=rest.next_page_token,
    )


async def push(plain):
    """A target named in the message itself hears of the run until its end."""
    hook = Hook()
    asking = request(START)
    target = asking.configuration.task_push_notification_config
    target.url, target.token = hook.url, TOKEN
    target.authentication.scheme, target.authentication.credentials = "Bearer", "secret"
    task = [event async for event in plain.send_message(asking)][-1].task
    await send(plain, ANSWER, task)

    def state_of(body):
        event = ParseDict(body, pb.StreamResponse())
        return short(event).removeprefix("task ")

    taken = await asyncio.to_thread(hook.until, state_of, "completed")
    tell(
        "push",
        states=[state_of(body) for _, body in taken],
        token=all(headers.get("x-a2a-notification-token") == TOKEN for headers, _ in taken),
        authorization=all(headers.get("authorization") == "Bearer secret" for headers, _ in taken),
        type=taken[-1][0].get("content-type"),
    )


async def push_configs(plain):
    """A configuration is made, found, listed and deleted."""
    task = await send(plain, START)
    config = pb.TaskPushNotificationConfig(id="mine", task_id=task.id, url=Hook().url)
    made = await plain.create_task_push_notification_config(config)
    found = await plain.get_task_push_notification_config(
        pb.GetTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
    )
    listing = pb.ListTaskPushNotificationConfigsRequest(task_id=task.id)
    listed = await plain.list_task_push_notification_configs(listing)
    await plain.delete_task_push_notification_config(
        pb.DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="mine")
    )
    left = await plain.list_task_push_notification_configs(listing)
    tell(
        "push-configs",
        made=made.id,
        found=MessageToDict(found).get("url") == config.url,
        listed=[config.id for config in listed.configs],
        left=len(left.configs),
    )


asyncio.run(main())
