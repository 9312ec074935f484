// The tool on our host over HTTP with production settings: validation, envelope, policy, metrics, a log line per call.
import { defineTool } from '../../packages/contract/dist/index.js';
import { createHost, createLog } from '../../packages/host/dist/index.js';
import { compilePolicy } from '../../packages/policy/dist/index.js';
import { echo } from './echo.mjs';

const tool = defineTool({
  ...echo,
  category: 'read',
  effect: 'read',
  profiles: ['readonly', 'api', 'workflow'],
  errors: [],
  handler: ({ text }) => ({ text }),
});
const rule = {
  name: 'no secrets',
  when: { tool: 'echo', effect: 'read', 'args.text': { contains: 'secret' } },
  action: 'deny',
};
const compiled = compilePolicy({ rules: [rule] }, { profile: 'api', tools: [tool] });
if (!compiled.ok) throw new Error(JSON.stringify(compiled.issues));
const { log } = createLog({ level: 'info' });
const host = createHost({ profile: 'api', tools: [tool], policy: compiled.policy, log });
const { url } = await host.listen({ port: 0 });
console.log(`${url}/mcp`);
