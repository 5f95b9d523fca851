// The official JavaScript SDK as a server of `echo`, served by Express as its documentation does it.
//
//     node server.cjs FOLDER
//
// FOLDER holds node_modules. Does for each message what Trackway's own `echo` does: a status with a
// message, an artifact with the text, the end. Tasks are kept in memory. Prints its address as one line of
// JSON; JSON-RPC is at /a2a, HTTP+JSON below /a2a/rest.

const { randomUUID } = require('node:crypto');
const { createRequire } = require('node:module');
const { join, resolve } = require('node:path');

const packages = createRequire(join(resolve(process.argv[2]), 'package.json'));
const express = packages('express');
const { AgentEvent, Role, TaskState } = { ...packages('@a2a-js/sdk'), ...packages('@a2a-js/sdk/server') };
const { DefaultRequestHandler, InMemoryTaskStore } = packages('@a2a-js/sdk/server');
const { UserBuilder, jsonRpcHandler, restHandler } = packages('@a2a-js/sdk/server/express');

const text = (value) => ({
  content: { $case: 'text', value },
  mediaType: 'text/plain',
  filename: '',
  metadata: undefined,
});

class Echo {
  async execute({ taskId, contextId, userMessage }, bus) {
    const said = userMessage.parts.map(({ content }) => content.value).join('\n');
    const status = (state, message) => ({ state, message, timestamp: new Date().toISOString() });
    const update = (state, message) =>
      bus.publish(
        AgentEvent.statusUpdate({ taskId, contextId, status: status(state, message), metadata: {} }),
      );
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(TaskState.TASK_STATE_SUBMITTED),
        artifacts: [],
        history: [userMessage],
        metadata: {},
      }),
    );
    update(TaskState.TASK_STATE_WORKING);
    update(TaskState.TASK_STATE_WORKING, {
      messageId: randomUUID(),
      taskId,
      contextId,
      role: Role.ROLE_AGENT,
      parts: [text(`Echoing ${said.length} characters`)],
      metadata: {},
      extensions: [],
      referenceTaskIds: [],
    });
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        artifact: {
          artifactId: 'echo.txt',
          name: 'Echo',
          description: '',
          parts: [text(said)],
          metadata: {},
          extensions: [],
        },
        append: false,
        lastChunk: true,
        metadata: {},
      }),
    );
    update(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  async cancelTask() {
    throw new Error('an echo is over before it could be canceled');
  }
}

function card(url) {
  const known = (path, protocolBinding) => ({
    url: url + path,
    protocolBinding,
    protocolVersion: '1.0',
    tenant: '',
  });
  return {
    name: 'echo',
    description: 'Says back the text it is given.',
    version: '1',
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    skills: [
      {
        id: 'echo',
        name: 'echo',
        description: 'Says back the text.',
        tags: ['text'],
        examples: [],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    supportedInterfaces: [known('/a2a', 'JSONRPC'), known('/a2a/rest', 'HTTP+JSON')],
  };
}

const app = express();
const listening = app.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${listening.address().port}`;
  const requestHandler = new DefaultRequestHandler(card(url), new InMemoryTaskStore(), new Echo());
  const userBuilder = UserBuilder.noAuthentication;
  app.use('/a2a/rest', restHandler({ requestHandler, userBuilder }));
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder }));
  console.log(JSON.stringify({ url }));
});
