"""The official Python SDK as a server of `echo`, served as its documentation does it.

    python server.py

Does for each message what Trackway's own `echo` does: a status with a message, an artifact with the text,
the end. Tasks are kept in memory. Prints its address as one line of JSON; JSON-RPC is at /a2a, HTTP+JSON
below /a2a/rest.
"""

import asyncio
import json
import socket

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Part,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        task = Task(
            id=context.task_id,
            context_id=context.context_id,
            status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
            history=[context.message],
        )
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        said = updater.new_agent_message([Part(text=f'Echoing {len(text)} characters')])
        await updater.update_status(TaskState.TASK_STATE_WORKING, said)
        await updater.add_artifact([Part(text=text)], artifact_id='echo.txt', name='Echo')
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError('an echo is over before it could be canceled')


def card(url: str) -> AgentCard:
    def interface(path: str, binding: str) -> AgentInterface:
        return AgentInterface(url=url + path, protocol_binding=binding, protocol_version='1.0')

    skill = AgentSkill(id='echo', name='echo', description='Says back the text.', tags=['text'])
    return AgentCard(
        name='echo',
        description='Says back the text it is given.',
        version='1',
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[skill],
        supported_interfaces=[interface('/a2a', 'JSONRPC'), interface('/a2a/rest', 'HTTP+JSON')],
    )


async def main() -> None:
    listening = socket.create_server(('127.0.0.1', 0), backlog=1024)
    url = f'http://127.0.0.1:{listening.getsockname()[1]}'
    handler = DefaultRequestHandler(
        agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card(url)
    )
    routes = create_jsonrpc_routes(handler, '/a2a') + create_rest_routes(handler, path_prefix='/a2a/rest')
    app = Starlette(routes=routes)
    config = uvicorn.Config(app, log_level='warning', access_log=False)
    print(json.dumps({'url': url}), flush=True)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == '__main__':
    asyncio.run(main())
