import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { x } from '../src/index.js';
import { png } from '../src/media/files.fixture.js';
import { argumentsOf } from './support/arguments.js';
import { type Config, useWorld } from './support/rig.js';
import { observeCodes, type Reply } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolkeel-codes-'));
  await writeFile(join(folder, 'picture.png'), png(50));
  await writeFile(join(folder, 'text.png'), 'text');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const limited = () => ({
  'x-rate-limit-limit': '1',
  'x-rate-limit-remaining': '0',
  'x-rate-limit-reset': String(Math.floor(Date.now() / 1000) + 60),
});

/** Responses of X and the resulting error codes. */
const replies: readonly (readonly [Reply, string])[] = [
  [{ status: 429, json: {}, headers: limited() }, 'x_rate_limited'],
  [{ status: 401, json: {} }, 'x_auth_expired'],
  [{ status: 403, json: {} }, 'x_forbidden'],
  [{ status: 403, json: { errors: [{ code: 64 }] } }, 'x_account_restricted'],
  [{ status: 402, json: {} }, 'x_credits_depleted'],
  [{ status: 409, json: {} }, 'upstream_rejected'],
  [{ status: 404, json: {} }, 'not_found'],
];

const expiredLogin = {
  version: 1,
  login_id: 'a',
  client_id: 'b',
  access_token: 'c',
  refresh_token: 'd',
  obtained_at: 0,
  expires_at: 0,
  scopes: [],
};

describe('error codes', () => {
  it('are exactly those that each tool declares', async () => {
    const config: Config = { maxRetries: 0, tier: 'enterprise', mediaDirectories: [folder] };
    const specs = x.describe();
    const { note, verify } = observeCodes(specs);
    const needy = specs.filter(({ requires }) => requires.includes('x_client'));
    const all = async (
      reply: Reply,
      expected: (tool: string) => string,
      isMeant: (tool: string) => boolean = () => true,
      more: Config = {},
    ) => {
      for (const { name } of needy.filter((spec) => isMeant(spec.name))) {
        // A pack for each, because failures would open its circuit.
        const { rig } = await world(() => reply, { ...config, ...more });
        note(name, await rig.code(name, argumentsOf[name]), expected(name));
      }
    };
    for (const [reply, code] of replies) await all(reply, () => code);
    await all(
      {},
      () => 'x_not_configured',
      () => true,
      { accessToken: undefined },
    );
    const isOnce = (tool: string) => specs.find(({ name }) => name === tool)?.effect === 'once';
    // Only posts have an unknown outcome; the others keep the code of the cause.
    const brief = { toolTimeoutSecs: 3, attemptTimeoutSecs: 3 };
    for (const [reply, code] of [
      [{ act: 'reset' }, 'x_network_error'],
      [{ status: 500 }, 'x_api_error'],
    ] as const) {
      const once = needy.filter((spec) => isOnce(spec.name));
      // Concurrently, because they only wait.
      await Promise.all(
        once.map(({ name }) =>
          all(
            reply,
            () => 'outcome_unknown',
            (tool) => tool === name,
            brief,
          ),
        ),
      );
      await all(
        reply,
        () => code,
        (tool) => !isOnce(tool),
      );
    }

    // Posts that were not sent keep the code of the cause.
    const dead = await world(() => ({}), config);
    await dead.server.close();
    const posts = needy.filter(({ effect }) => effect === 'once').map(({ name }) => name);
    for (const name of posts) {
      note(name, await dead.rig.code(name, argumentsOf[name]), 'x_network_error');
    }
    const tokenFile = join(folder, 'x.json');
    await writeFile(tokenFile, JSON.stringify(expiredLogin), { mode: 0o600 });
    const unrenewed = await world(() => ({ status: 500 }), {
      ...config,
      accessToken: undefined,
      tokenFile,
    });
    for (const name of posts) {
      note(name, await unrenewed.rig.code(name, argumentsOf[name]), 'x_api_error');
    }
    // A preceding read fails like any read.
    const broken = await world(() => ({ status: 500 }), config);
    while ((await broken.rig.code('x_get_me')) !== 'circuit_open');
    for (const { name } of needy) {
      note(name, await broken.rig.code(name, argumentsOf[name]), 'circuit_open');
    }
    const { rig } = await world(() => ({ status: 500 }), config);
    for (const name of posts) {
      const [tooLong, empty] =
        name === 'x_post_thread'
          ? [{ tweets: ['a', 'b'.repeat(300)] }, { tweets: [' '] }]
          : [
              { ...argumentsOf[name], text: 'b'.repeat(300) },
              { ...argumentsOf[name], text: ' ' },
            ];
      note(name, await rig.code(name, tooLong), 'tweet_too_long');
      note(name, await rig.code(name, empty), 'invalid_input');
    }
    const uploads = [
      ['text.png', 'unsupported_media_type'],
      ['none.png', 'file_read_error'],
    ] as const;
    for (const [file_path, code] of uploads) {
      note('x_upload_media', await rig.code('x_upload_media', { file_path }), code);
    }
    const refused = await world(() => ({ status: 400, json: {} }), config);
    note(
      'x_upload_media',
      await refused.rig.code('x_upload_media', argumentsOf['x_upload_media']),
      'media_upload_error',
    );
    const half = await world(
      (_, count) => (count === 1 ? { status: 201, json: { data: { id: '1' } } } : { status: 403 }),
      config,
    );
    note(
      'x_post_thread',
      await half.rig.code('x_post_thread', argumentsOf['x_post_thread']),
      'thread_partial_failure',
    );
    const forged = await world(() => ({ json: {} }), config);
    for (const { name, paging } of specs) {
      if (!paging) continue;
      const args = { ...argumentsOf[name], pagination_token: 'forged' };
      note(name, await forged.rig.code(name, args), 'invalid_input');
    }
    expect(verify).not.toThrow();
  });
});
