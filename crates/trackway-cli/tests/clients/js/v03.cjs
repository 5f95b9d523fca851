// The official client of protocol 0.3 (@a2a-js/sdk 0.3.x) against one agent, over one binding.
//
//     node v03.cjs FOLDER AGENT_URL BINDING START ANSWER
//
// FOLDER holds node_modules. START begins a run that asks something, ANSWER lets it complete; both are
// JSON, a string being text and anything else data. Prints one line of JSON for each thing it did. The
// test that starts it judges; this only speaks the protocol.

const { randomUUID } = require('node:crypto');
const { packages, url, binding, start, answer, token, tell, hook, main } = require('./common.cjs');
const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = packages('@a2a-js/sdk/client');
const { GrpcTransportFactory } = packages('@a2a-js/sdk/client/grpc');
const { credentials } = packages('@grpc/grpc-js');

const told = (task) => ({
  state: task.status.state,
  artifacts: (task.artifacts ?? []).map((artifact) => artifact.artifactId),
});

/** One event of a stream, in one word. */
function short(event) {
  switch (event.kind) {
    case 'task':
      return `task ${event.status.state}`;
    case 'status-update':
      return event.status.state;
    case 'artifact-update':
      return `+${event.artifact.artifactId}`;
    default:
      return event.kind;
  }
}

function request(value, task, configuration) {
  const part =
    typeof value === 'string' ? { kind: 'text', text: value } : { kind: 'data', data: value };
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [part] };
  if (task) Object.assign(message, { taskId: task.id, contextId: task.contextId });
  return { message, configuration: { blocking: true, ...configuration } };
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
  tell('card', { name: card.name, versions: [card.protocolVersion] });

  let task = await client.sendMessage(request(start));
  tell('send', told(task));
  task = await client.sendMessage(request(answer, task));
  tell('resume', told(task));
  task = await client.getTask({ id: task.id, historyLength: 1 });
  tell('get', { history: (task.history ?? []).length, ...told(task) });

  tell('stream', { events: await all(client.sendMessageStream(request(start))) });
  await resubscribe(client);

  task = await client.sendMessage(request(start));
  tell('cancel', told(await client.cancelTask({ id: task.id })));

  await push(client);
  await pushConfigs(client);
});

/** Loses a stream after its first event and takes the task up again with another one. */
async function resubscribe(client) {
  const cut = new AbortController();
  const stream = client.sendMessageStream(request(start), { signal: cut.signal });
  const task = (await stream.next()).value;
  cut.abort();
  await stream.return().catch(() => {});
  const events = [];
  let answering;
  for await (const event of client.resubscribeTask({ id: task.id })) {
    events.push(short(event));
    if (!answering && events.at(-1).endsWith('input-required')) {
      answering = client.sendMessage(request(answer, task));
    }
  }
  await answering;
  tell('resubscribe', { events });
}

/** A target named in the message itself hears of the run until its end. */
async function push(client) {
  const { url: heard, until } = await hook();
  const pushNotificationConfig = { url: heard, token };
  const task = await client.sendMessage(request(start, undefined, { pushNotificationConfig }));
  await client.sendMessage(request(answer, task));
  const stateOf = (body) => body.status.state;
  const taken = await until(stateOf, 'completed');
  tell('push', {
    states: taken.map(({ body }) => stateOf(body)),
    token: taken.every(({ headers }) => headers['x-a2a-notification-token'] === token),
    type: taken.at(-1).headers['content-type'],
  });
}

/** A configuration is made, found, listed and deleted. */
async function pushConfigs(client) {
  const task = await client.sendMessage(request(start));
  const { url: heard } = await hook();
  const made = await client.setTaskPushNotificationConfig({
    taskId: task.id,
    pushNotificationConfig: { id: 'mine', url: heard },
  });
  const name = { id: task.id, pushNotificationConfigId: 'mine' };
  const found = await client.getTaskPushNotificationConfig(name);
  const listed = await client.listTaskPushNotificationConfig({ id: task.id });
  await client.deleteTaskPushNotificationConfig(name);
  const left = await client.listTaskPushNotificationConfig({ id: task.id });
  tell('push-configs', {
    made: made.pushNotificationConfig.id,
    found: found.pushNotificationConfig.url === heard,
    listed: listed.map((config) => config.pushNotificationConfig.id),
    left: left.length,
  });
}
