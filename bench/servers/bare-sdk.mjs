// The tool on the SDK alone, as documented.
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { echo } from './echo.mjs';

const { name, title, description, input: inputSchema, output: outputSchema } = echo;

serveStdio(() => {
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
