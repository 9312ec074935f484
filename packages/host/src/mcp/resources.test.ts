import { raise, toolError, type Pack } from '@toolkeel/contract';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createHost } from '../host.js';

/** A pack whose resource fails with the code in its URI. */
const failing: Pack = {
  name: 'p',
  configSchema: z.strictObject({}),
  describe: () => [],
  create: () =>
    Promise.resolve({
      tools: [],
      resources: [
        {
          uriTemplate: 'fail://{code}',
          name: 'failing',
          title: 'Failing',
          description: 'Fails.',
          mimeType: 'text/plain',
          read: (uri) => raise(toolError(uri.slice('fail://'.length), 'No such luck.')),
        },
      ],
      health: () => Promise.resolve({ ok: true, detail: '' }),
      close: () => Promise.resolve(),
    }),
};

it.each([
  ['invalid_input', -32_602],
  ['validation_error', -32_602],
  ['upstream_unavailable', -32_603],
  ['timeout', -32_603],
])('a read that fails with %s results in the protocol error %i', async (code, expected) => {
  const host = createHost({ packs: [{ pack: failing }] });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 't', version: '1' });
  await Promise.all([host.connect(ours), client.connect(theirs)]);
  await expect(client.readResource({ uri: `fail://${code}` })).rejects.toMatchObject({
    code: expected,
    message: expect.stringContaining('No such luck.'),
    data: { code },
  });
  await host.close();
});
