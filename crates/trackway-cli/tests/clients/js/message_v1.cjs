// The official client of protocol 1.0 (@a2a-js/sdk 1.x) sends one message over one binding.
//
//     node message_v1.cjs FOLDER AGENT_URL BINDING MESSAGE
//
// FOLDER holds node_modules. MESSAGE is JSON: `contextId`, `metadata`, and `parts` with `text` or with
// `raw` (base64), `filename` and `mediaType`. Prints the task that it gets, as JSON.

const { randomUUID } = require('node:crypto');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder, url, binding, sent] = process.argv.slice(2);
// The packages lie in a folder of their own, outside of the repository's.
const packages = createRequire(path.join(path.resolve(folder), 'package.json'));
const sdk = packages('@a2a-js/sdk');
const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = packages('@a2a-js/sdk/client');

const content = (part) =>
  'text' in part
    ? { $case: 'text', value: part.text }
    : { $case: 'raw', value: Buffer.from(part.raw, 'base64') };

async function main() {
  const { contextId = '', metadata, parts } = JSON.parse(sent);
  const transports = [new JsonRpcTransportFactory(), new RestTransportFactory()].filter(
    (transport) => transport.protocolName === binding,
  );
  const factory = new ClientFactory({ transports, preferredTransports: [binding] });
  const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const task = await client.sendMessage({
    tenant: '',
    metadata: undefined,
    configuration: undefined,
    message: {
      messageId: randomUUID(),
      contextId,
      taskId: '',
      role: sdk.Role.ROLE_USER,
      parts: parts.map((part) => ({
        content: content(part),
        metadata: undefined,
        filename: part.filename ?? '',
        mediaType: part.mediaType ?? '',
      })),
      metadata,
      extensions: [],
      referenceTaskIds: [],
    },
  });
  const state = sdk.TaskState[task.status.state];
  console.log(JSON.stringify({ contextId: task.contextId, status: { state }, metadata: task.metadata }));
}

// Open connections must not keep the process.
main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
