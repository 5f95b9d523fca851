// The official client of protocol 0.3 (@a2a-js/sdk 0.3.x) sends one message over one binding.
//
//     node message_v03.cjs FOLDER AGENT_URL BINDING MESSAGE
//
// FOLDER holds node_modules. MESSAGE is the JSON of a message of 0.3 without its id. Prints the task that it
// gets, as JSON.

const { randomUUID } = require('node:crypto');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder, url, binding, sent] = process.argv.slice(2);
// The packages lie in a folder of their own, outside of the repository's.
const packages = createRequire(path.join(path.resolve(folder), 'package.json'));
const { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } = packages('@a2a-js/sdk/client');

async function main() {
  const transports = [new JsonRpcTransportFactory(), new RestTransportFactory()].filter(
    (transport) => transport.protocolName === binding,
  );
  const factory = new ClientFactory({ transports, preferredTransports: [binding] });
  const client = await factory.createFromUrl(`${url}/.well-known/agent-card.json`, '');
  const message = { messageId: randomUUID(), ...JSON.parse(sent) };
  const task = await client.sendMessage({ message, configuration: { blocking: true } });
  console.log(JSON.stringify(task));
}

// Open connections must not keep the process.
main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
