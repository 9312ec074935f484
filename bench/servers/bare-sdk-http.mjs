// The tool on the SDK's HTTP handler, as documented.
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { echo } from './echo.mjs';

const { name, title, description, input: inputSchema, output: outputSchema } = echo;

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' });
  server.registerTool(name, { title, description, inputSchema, outputSchema }, ({ text }) => {
    const structuredContent = { text };
    return {
      structuredContent,
      content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
    };
  });
  return server;
});
const listener = getRequestListener((request) => handler.fetch(request));
const server = createServer((request, response) => void listener(request, response));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`http://127.0.0.1:${address?.port}/mcp`);
});
