import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outcomeOfFault } from '@toolkeel/contract';
import { createPackRig, faultMatrix, upstreamFaults } from '@toolkeel/pack-kit/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createXPack, x } from '../src/index.js';
import { png } from '../src/media/files.fixture.js';
import { argumentsOf } from './support/arguments.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-matrix-'));
  await writeFile(join(folder, 'picture.png'), png(50));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const codes: Readonly<Record<string, string>> = {
  connect: 'x_network_error',
  network: 'x_network_error',
  timeout: 'x_network_error',
  bad_response: 'x_api_error',
  server: 'x_api_error',
  rate_limited: 'x_rate_limited',
  auth: 'x_auth_expired',
};
const rejections: Readonly<Record<string, string>> = {
  '400': 'upstream_rejected',
  '403': 'x_forbidden',
  '404': 'not_found',
};

const me = { data: { id: '1', username: 'me' } };
/** Tools whose only request is the one that others make first. */
const reads = ['x_get_me'];

it('every tool answers every fault with its code and outcome, and posts once', async () => {
  const specs = x
    .describe()
    .filter(({ requires }) => requires.includes('x_client'))
    // The tools of the workflow profile make only the request that others make first.
    .filter(({ name, profiles }) => profiles.includes('api') && !reads.includes(name));
  const cells = await faultMatrix({
    specs,
    argumentsOf: (tool) => argumentsOf[tool],
    start: ({ origin }, { kind }) =>
      createPackRig(createXPack({ env: { USER: 'user-access-token' } }), {
        baseUrl: origin,
        accessToken: { env: 'USER' },
        tier: 'enterprise',
        mediaDirectories: [folder],
        ...(kind === 'timeout' && { toolTimeoutSecs: 3, attemptTimeoutSecs: 0.5 }),
      }),
    healthy: ({ path }) => (path === '/2/users/me' ? { json: me } : undefined),
    codeOf: ({ kind, name, sent }, { name: tool, effect }) => {
      if (tool === 'x_upload_media' && name === '400') return 'media_upload_error';
      const isRefusal = ['rate_limited', 'auth', 'rejected'].includes(kind);
      if (effect === 'once' && sent !== 'no' && !isRefusal) return 'outcome_unknown';
      return codes[kind] ?? rejections[name]!;
    },
    // An upload that was not finalized is invisible.
    outcomeOf: (fault, { name, effect }) =>
      name === 'x_upload_media' ? 'not_executed' : outcomeOfFault(effect, fault),
    maxRetries: 2,
  });
  expect(cells).toHaveLength(specs.length * upstreamFaults.length);
}, 120_000);
