// What both clients share: the command line, a way to tell, and a webhook on this machine.

const http = require('node:http');
const { createRequire } = require('node:module');
const path = require('node:path');

const [folder, url, binding, start, answer] = process.argv.slice(2);

// Far longer than a delivery takes, also on a busy machine: only a lost one gets there.
const PATIENCE_MS = 60_000;

/** Tells one thing that was done. */
const tell = (op, what) => console.log(JSON.stringify({ op, ...what }));

/** Takes every notification and keeps it. */
async function hook() {
  const taken = [];
  let wake = () => {};
  const server = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      taken.push({ headers: request.headers, body: JSON.parse(Buffer.concat(chunks)) });
      response.end();
      wake();
    });
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  server.unref();
  /** Waits for a notification of that state; returns every notification until then. */
  const until = async (stateOf, state) => {
    const late = setTimeout(() => {
      throw new Error(`no notification of ${state}`);
    }, PATIENCE_MS);
    while (!taken.some(({ body }) => stateOf(body) === state)) {
      await new Promise((woken) => (wake = woken));
    }
    clearTimeout(late);
    return taken;
  };
  return { url: `http://127.0.0.1:${server.address().port}/hook`, until };
}

/** Runs it, and ends with an exit code that says how it went: open connections must not keep us. */
function main(run) {
  run().then(
    () => process.exit(0),
    (error) => {
      console.error(error);
      process.exit(1);
    },
  );
}

module.exports = {
  // The packages lie in a folder of their own, outside of the repository's.
  packages: createRequire(path.join(path.resolve(folder), 'package.json')),
  url,
  binding,
  start: JSON.parse(start),
  answer: JSON.parse(answer),
  token: 'a-token-of-the-client',
  tell,
  hook,
  main,
};
