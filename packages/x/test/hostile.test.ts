import { gzipSync } from 'node:zlib';
import { envelopeSchema } from '@toolkeel/contract';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { argumentsOf } from './support/arguments.js';
import { secrets, useWorld } from './support/rig.js';
import type { Reply } from '@toolkeel/pack-kit/testing';

const { world } = useWorld();

describe('a hostile upstream', () => {
  it('is not read beyond the byte budget, compressed or not', async () => {
    const filler = Buffer.alloc(2_000_000, 'a');
    const replies: readonly Reply[] = [
      { text: filler },
      { text: gzipSync(filler), headers: { 'content-encoding': 'gzip' } },
      { text: 'x', headers: { 'content-length': '999999999' } },
      { status: 400, text: filler },
      { text: 'not gzip', headers: { 'content-encoding': 'gzip' } },
    ];
    for (const reply of replies) {
      const { rig } = await world(() => reply, { maxResponseBytes: 65_536, maxRetries: 0 });
      expect(['x_api_error', 'upstream_rejected', 'x_network_error']).toContain(
        await rig.code('x_get_me'),
      );
    }
  });

  it('cannot make the pack echo its token', async () => {
    const leak = `Bearer ${secrets.USER} app ${secrets.APP}`;
    const replies: readonly Reply[] = [
      { json: { data: { id: '1', username: 'me', description: leak, name: leak } } },
      { status: 403, json: { title: leak, detail: leak, type: `https://x/${leak}` } },
      { status: 400, json: { errors: [{ message: leak }] } },
      { json: { errors: [{ title: leak, detail: leak, value: leak, resource_id: leak }] } },
    ];
    for (const reply of replies) {
      const { rig } = await world(() => reply);
      for (const tool of ['x_get_me', 'x_like_tweet', 'x_post_tweet']) {
        const envelope = await rig.run(tool, argumentsOf[tool]);
        expect(JSON.stringify(envelope)).not.toContain(secrets.USER);
        expect(rig.logged.join()).not.toContain(secrets.USER);
      }
      expect(JSON.stringify(rig.events, (_, value: unknown) => value)).not.toContain(secrets.USER);
    }
  });

  it('cannot hide unreadable items', async () => {
    const list = (...data: unknown[]) => world(() => ({ json: { data, meta: {} } }));
    const { rig: none } = await list(7, 'x', { text: 'without an id' });
    expect(await none.code('x_search_tweets', { query: 'q' })).toBe('x_api_error');
    const { rig: some } = await list({ id: '1', text: 'a' }, null, { id: '2' });
    expect(await some.data('x_search_tweets', { query: 'q' })).toMatchObject({
      tweets: [{ id: '1' }],
      partial_errors: [{ reason: 'unreadable', message: expect.stringContaining('2 items') }],
    });
  });

  it('cannot cause an unbounded wait', async () => {
    const { rig, server } = await world(() => ({
      status: 429,
      json: {},
      headers: {
        'x-rate-limit-limit': '1',
        'x-rate-limit-remaining': '0',
        'x-rate-limit-reset': String(Math.floor(Date.now() / 1000) + 10 * 365 * 86_400),
      },
    }));
    const error = await rig.error('x_get_me');
    expect(error.code).toBe('x_rate_limited');
    expect(error.retry_after_ms).toBeUndefined();
    await rig.error('x_get_me');
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ['get_tweet_by_id', 'tweet_id', { text: 'by somebody else' }],
    ['x_get_user_by_id', 'user_id', { username: 'else', name: 'Somebody else' }],
    ['x_get_list', 'list_id', { name: 'Of somebody else' }],
  ])('cannot pass off another item to %s', async (tool, argument, thing) => {
    let id = '21';
    const { rig } = await world(() => ({ json: { data: { id, ...thing } } }), { maxRetries: 0 });
    expect(await rig.code(tool, { [argument]: '20' })).toBe('x_api_error');
    id = '20';
    expect(await rig.data(tool, { [argument]: '20' })).toBeDefined();
    // X ignores leading zeros.
    expect(await rig.data(tool, { [argument]: '0020' })).toBeDefined();
  });

  it('gets a valid envelope from every tool for any response', async () => {
    let reply: Reply = {};
    const { rig } = await world(() => reply, {
      maxRetries: 0,
      tier: 'enterprise',
      toolTimeoutSecs: 0.3,
      attemptTimeoutSecs: 0.2,
    });
    const odd = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom<unknown>(null, '1', 7, [], {}, '__proto__', '9'.repeat(30), {
        id: '1',
        text: 5,
      }),
    );
    const doc = fc.dictionary(
      fc.constantFrom('data', 'errors', 'meta', 'includes', 'title', 'type', '__proto__'),
      fc.oneof(
        odd,
        fc.array(odd, { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom(
            'id',
            'text',
            'username',
            'name',
            'users',
            'next_token',
            'entities',
            'liked',
          ),
          odd,
        ),
      ),
    );
    const tools = rig.instance.tools.filter(
      ({ name, requires }) =>
        requires.includes('x_client') && !/post|reply|quote|upload/.test(name),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...tools),
        doc,
        fc.constantFrom(200, 201, 400, 403, 404, 429, 500),
        async ({ name }, json, status) => {
          reply = { status, json };
          const envelope = await rig.run(name, argumentsOf[name]);
          expect(envelopeSchema.safeParse(envelope).success).toBe(true);
          const code = envelope.success ? 'ok' : envelope.error.code;
          expect(['internal_error', 'serialization_error']).not.toContain(code);
        },
      ),
      { numRuns: 400 },
    );
  });
});
