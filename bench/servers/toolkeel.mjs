// The tool on our host with production settings: validation, envelope, metrics, a log line for every call.
import { defineTool } from '../../packages/contract/dist/index.js';
import { createHost, createLog } from '../../packages/host/dist/index.js';
import { echo } from './echo.mjs';

const tool = defineTool({
  ...echo,
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  errors: [],
  handler: ({ text }) => ({ text }),
});
const { log, flush } = createLog({ level: 'info' });
const host = createHost({ tools: [tool], log });
await host.serveStdio().closed;
await flush();
