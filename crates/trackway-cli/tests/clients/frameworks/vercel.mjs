// Vercel's AI SDK as it comes: its MCP client, over HTTP.
//
//     vercel.mjs PACKAGES URL WORKFLOW
//
// Lists the tools, starts the workflow and answers each step until it is complete. Prints one JSON line
// for each thing that it did.

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [packages, url, workflow] = process.argv.slice(2);
const from = createRequire(path.join(path.resolve(packages), 'package.json'));
const { createMCPClient } = await import(pathToFileURL(from.resolve('@ai-sdk/mcp')).href);

const tell = (op, what) => console.log(JSON.stringify({ op, ...what }));

const client = await createMCPClient({ transport: { type: 'http', url } });
const tools = await client.tools();
tell('tools', { tools: Object.keys(tools) });
const call = async (name, args) => {
  const options = { toolCallId: name, messages: [] };
  return (await tools[name].execute(args, options)).structuredContent;
};
const listed = await call('workflow_list', {});
tell('list', { workflows: listed.workflows.map(({ workflowId }) => workflowId) });
let step = await call('workflow_start', { workflowId: workflow });
tell('start', { step });
while (!step.isComplete) {
  const { stateToken, ackToken } = step;
  step = await call('workflow_advance', { stateToken, ackToken, output: { notesMarkdown: 'Done.' } });
  tell('advance', { step });
}
await client.close();
tell('closed');
