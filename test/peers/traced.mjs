// A user's program. `test/peers.test.ts` runs it with several OpenTelemetry SDKs, which it preloads, and
// receives the spans.
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { defineTool } from '@toolkeel/contract';
import { createHost } from '@toolkeel/host';
import { withResilience, presets } from '@toolkeel/kernel';
import * as z from 'zod';

let requests = 0;
/** @param {(event: import('@toolkeel/kernel').KernelEvent) => void} observe */
const flaky = (observe) => {
  const request = withResilience(
    async () => {
      requests++;
      if (requests === 1) throw Object.assign(new Error('busy'), { status: 503 });
      return requests;
    },
    { ...presets.stac, initialBackoffMs: 1 },
    { effect: 'read', listener: observe, name: 'example' },
  );
  return defineTool({
    name: 'flaky',
    title: 'Flaky',
    description: 'Succeeds at the second attempt.',
    category: 'read',
    effect: 'read',
    profiles: ['readonly', 'api', 'workflow'],
    input: z.object({}),
    output: z.object({ requests: z.int() }),
    errors: ['upstream_unavailable', 'circuit_open'],
    handler: async (_, { correlationId, deadline, signal }) => ({
      requests: await request(undefined, { correlationId, deadline, signal }),
    }),
  });
};

const host = createHost({
  packs: [
    {
      pack: {
        name: 'example',
        configSchema: z.strictObject({}),
        describe: () => [flaky(() => {})],
        create: async (_, { observe }) => ({
          tools: [flaky(observe)],
          health: async () => ({ ok: true, detail: '' }),
          close: async () => {},
        }),
      },
    },
  ],
});
const [near, far] = InMemoryTransport.createLinkedPair();
await host.connect(far);
const client = new Client({ name: 'traced', version: '1' });
await client.connect(near);
const { structuredContent } = await client.callTool({ name: 'flaky', arguments: {} });
await client.close();
await host.close();
process.stdout.write(JSON.stringify(structuredContent));
