// A proxy as the SDK suggests it: a Server in front of a Client. `node sdk-proxy.mjs COMMAND ARGS…`
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

const [command = '', ...args] = process.argv.slice(2);
const client = new Client({ name: 'sdk-proxy', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, stderr: 'ignore' }));
const { server } = new McpServer(
  { name: 'sdk-proxy', version: '1.0.0' },
  { capabilities: { tools: { listChanged: true } } },
);
server.setRequestHandler('tools/list', ({ params }) => client.listTools(params));
server.setRequestHandler('tools/call', ({ params }) => client.callTool(params));
await server.connect(new StdioServerTransport());
process.stdin.on('end', () => void client.close().then(() => process.exit(0)));
