// The official client of protocol 1.0 (@a2a-js/sdk 1.x) against one agent, over one binding.
//
//     node v1.cjs FOLDER AGENT_URL BINDING START ANSWER
//
// FOLDER holds node_modules. START begins a run that asks something, ANSWER lets it complete; both are
// JSON, a string being text and anything else data. Prints one line of JSON for each thing it did. The
// test that starts it judges; this only speaks the protocol.

const { randomUUID } = require('node:crypto');
const { packages, url, binding, start, answer, token, tell, hook, main } = require('./common.cjs');
const sdk = packages('@a2a-js/sdk');
const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = packages('@a2a-js/sdk/client');
const { GrpcTransportFactory } = packages('@a2a-js/sdk/client/grpc');
const { credentials } = packages('@grpc/grpc-js');

const name = (state) => state.replace('TASK_STATE_', '').toLowerCase().replaceAll('_', '-');
const state = (status) => name(sdk.TaskState[status.state]);
const told = (task) => ({
  state: state(task.status),
  artifacts: task.artifacts.map((artifact) => artifact.artifactId),
});

/** One event of a stream, in one word. */
function short({ payload }) {
  switch (payload.$case) {
    case 'task':
      return `task ${state(payload.value.status)}`;
    case 'statusUpdate':
      return state(payload.value.status);
    case 'artifactUpdate':
      return `+${payload.value.artifact.artifactId}`;
    default:
      return payload.$case;
  }
}

/** The state that the body of a notification speaks of. */
const stateOf = (body) => {
  const status = body.task?.status ?? body.statusUpdate?.status;
  return status ? name(status.state) : `+${body.artifactUpdate.artifact.artifactId}`;
};

function request(value, { task, contextId } = {}) {
  const content =
    typeof value === 'string' ? { $case: 'text', value } : { $case: 'data', value };
  return {
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: randomUUID(),
      contextId: task?.contextId ?? contextId ?? '',
      taskId: task?.id ?? '',
      role: sdk.Role.ROLE_USER,
      parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
  };
}

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(short(event));
  return events;
}

main(async () => {
  const transports = [
    new JsonRpcTransportFactory(),
    new RestTransportFactory(),
    new GrpcTransportFactory({ grpcChannelCredentials: credentials.createInsecure() }),
  ].filter((transport) => transport.protocolName === binding);
  const factory = new ClientFactory({ transports, preferredTransports: [binding] });
  const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const card = await client.getAgentCard();
  const versions = new Set(card.supportedInterfaces.map((one) => one.protocolVersion));
  tell('card', { name: card.name, versions: [...versions].sort() });

  let task = await client.sendMessage(request(start));
  tell('send', told(task));
  task = await client.sendMessage(request(answer, { task }));
  tell('resume', told(task));
  task = await client.getTask({ tenant: '', id: task.id, historyLength: 1 });
  tell('get', { history: task.history.length, ...told(task) });

  tell('stream', { events: await all(client.sendMessageStream(request(start))) });
  await resubscribe(client);

  task = await client.sendMessage(request(start));
  task = await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  tell('cancel', told(task));

  await list(client);
  await push(client);
  await pushConfigs(client);
});

/** Loses a stream after its first event and takes the task up again with another one. */
async function resubscribe(client) {
  const cut = new AbortController();
  const stream = client.sendMessageStream(request(start), { signal: cut.signal });
  const task = (await stream.next()).value.payload.value;
  cut.abort();
  await stream.return().catch(() => {});
  const events = [];
  let answering;
  for await (const event of client.resubscribeTask({ tenant: '', id: task.id })) {
    events.push(short(event));
    if (!answering && events.at(-1).endsWith('input-required')) {
      answering = client.sendMessage(request(answer, { task }));
    }
  }
  await answering;
  tell('resubscribe', { events });
}

/** Two tasks of one context, a page each. The first has ended: else the second message answered it. */
async function list(client) {
  const contextId = randomUUID();
  const made = [];
  for (let count = 0; count < 2; count += 1) {
    const task = await client.sendMessage(request(start, { contextId }));
    made.push((await client.sendMessage(request(answer, { task }))).id);
  }
  const asked = { tenant: '', contextId, status: 0, pageSize: 1, statusTimestampAfter: undefined };
  const first = await client.listTasks({ ...asked, pageToken: '' });
  const pageToken = first.nextPageToken;
  const rest = await client.listTasks({ ...asked, pageToken, includeArtifacts: true });
  const ids = [...first.tasks, ...rest.tasks].map((task) => task.id);
  tell('list', {
    newest_first: ids.join() === made.reverse().join(),
    total: first.totalSize,
    artifacts: [first, rest].map((page) => page.tasks[0].artifacts.length),
    last: rest.nextPageToken,
  });
}

const target = (more) => ({
  tenant: '', id: '', taskId: '', token: '', authentication: undefined, ...more,
});

/** A target named in the message itself hears of the run until its end. */
async function push(client) {
  const { url: heard, until } = await hook();
  const asking = request(start);
  const authentication = { scheme: 'Bearer', credentials: 'secret' };
  asking.configuration = {
    acceptedOutputModes: [],
    taskPushNotificationConfig: target({ url: heard, token, authentication }),
    returnImmediately: false,
  };
  const task = await client.sendMessage(asking);
  await client.sendMessage(request(answer, { task }));
  const taken = await until(stateOf, 'completed');
  tell('push', {
    states: taken.map(({ body }) => stateOf(body)),
    token: taken.every(({ headers }) => headers['x-a2a-notification-token'] === token),
    authorization: taken.every(({ headers }) => headers.authorization === 'Bearer secret'),
    type: taken.at(-1).headers['content-type'],
  });
}

/** A configuration is made, found, listed and deleted. */
async function pushConfigs(client) {
  const task = await client.sendMessage(request(start));
  const { url: heard } = await hook();
  const name = { tenant: '', taskId: task.id, id: 'mine' };
  const made = await client.createTaskPushNotificationConfig(target({ ...name, url: heard }));
  const found = await client.getTaskPushNotificationConfig(name);
  const which = { tenant: '', taskId: task.id, pageSize: 0, pageToken: '' };
  const listed = await client.listTaskPushNotificationConfig(which);
  await client.deleteTaskPushNotificationConfig(name);
  const left = await client.listTaskPushNotificationConfig(which);
  tell('push-configs', {
    made: made.id,
    found: found.url === heard,
    listed: listed.configs.map((config) => config.id),
    left: left.configs.length,
  });
}
