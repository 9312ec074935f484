import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, newChaos } from './support/chaos.js';
import { revisions, type Frame } from './support/frames.js';
import { guardErrorIn, openGuard, textIn, type Guarded } from './support/guarded.js';

afterAll(cleanUp);

/** Shorter than by default. Only faults that end with a timeout depend on it. */
const settings = { policy: { idleTimeoutMs: 2000, initialBackoffMs: 10 } };

const paths = [
  { face: 'stdio', upstream: 'stdio' },
  { face: 'HTTP', upstream: 'stdio' },
  { face: 'stdio', upstream: 'HTTP' },
  { face: 'HTTP', upstream: 'HTTP' },
] as const;
const cases = paths.flatMap((path) => revisions.map((revision) => ({ ...path, revision })));

/** What must hold after every scenario: no frame that the protocol forbids, none lost, none doubled. */
const expectSound = ({ inbox }: Guarded): void => {
  expect(inbox.problems).toEqual([]);
  expect(inbox.open()).toEqual([]);
};

const outcomeOf = (frame: Frame): string => {
  if (frame.error) return `error ${frame.error.code}`;
  if (frame.result?.structuredContent === undefined)
    return `${frame.result?.isError === true ? 'isError' : 'ok'}: ${textIn(frame)}`;
  const { code, outcome } = guardErrorIn(frame);
  return outcome === undefined ? code : `${code}, ${outcome}`;
};

describe.each(cases)('$face → guard → $upstream, $revision', ({ face, upstream, revision }) => {
  it.concurrent('a server that misbehaves but answers', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ chaos, face, upstream, revision, settings });
    const answered = async (tool: string, fault: string, args = {}) => {
      const key = `${tool}-${fault}`;
      const frame = await guard.call(tool, { key, fault, ...args });
      return [
        outcomeOf(frame).replace(key, 'KEY'),
        chaos.calls(key).length,
        chaos.effects(key).length,
      ];
    };
    const common = ['none', 'wrong_id_then_right', 'duplicate', 'null_id_then_right'];
    const faults = [...common, 'no_result_type', 'list_changed'];
    faults.push(upstream === 'stdio' ? 'garbage' : 'sse');
    for (const fault of faults) {
      expect([fault, ...(await answered('read', fault))]).toEqual([fault, 'ok: done KEY', 1, 0]);
      expect([fault, ...(await answered('write', fault))]).toEqual([fault, 'ok: done KEY', 1, 1]);
    }
    expect(await answered('read', 'rpc_error')).toEqual(['error -32603', 1, 0]);
    expect(await answered('write', 'rpc_error')).toEqual(['error -32603', 1, 1]);
    expect(await answered('read', 'is_error')).toEqual(['isError: the tool failed', 1, 0]);
    expect(await answered('write', 'is_error')).toEqual(['isError: the tool failed', 1, 1]);
    expect(await answered('read', 'rate_limited', { ms: 1, times: 1 })).toEqual([
      'ok: done KEY',
      2,
      0,
    ]);
    const [limited, ...counts] = await answered('write', 'rate_limited', { ms: 1, times: 1 });
    expect(limited).toMatch(/^isError: rate limit exceeded/);
    expect(counts).toEqual([1, 1]);
    expectSound(guard);
    await guard.close();
    expectSound(guard);
  });

  it.concurrent('a server that crashes during a call', async () => {
    const chaos = newChaos();
    // A server on HTTP is started again by its supervisor, at any time: a retry has to come after that.
    const patient = {
      initialBackoffMs: 1000,
      backoffMultiplier: 1,
      maxRetries: 18,
      jitter: 'none',
    };
    const policy = upstream === 'HTTP' ? patient : {};
    const guard = await openGuard({ chaos, face, upstream, revision, settings: { policy } });
    const faults = upstream === 'HTTP' ? ['crash'] : ['crash_before', 'crash', 'partial'];
    for (const fault of faults) {
      const key = `read-${fault}`;
      const read = await guard.call('read', { key, fault, times: 1 });
      expect([fault, outcomeOf(read)]).toEqual([fault, `ok: done ${key}`]);
      expect(chaos.calls(key)).toHaveLength(2);
      const write = await guard.call('write', { key: fault, fault, times: 1 });
      expect([fault, outcomeOf(write)]).toEqual([fault, 'outcome_unknown, unknown']);
      expect(chaos.calls(fault)).toHaveLength(1);
      expect(chaos.effects(fault)).toHaveLength(fault === 'crash_before' ? 0 : 1);
      // The same call again learns what is known, and is not sent.
      const again = await guard.call('write', { key: fault, fault, times: 1 });
      expect([fault, outcomeOf(again)]).toEqual([fault, 'outcome_unknown, unknown']);
      expect(chaos.calls(fault)).toHaveLength(1);
    }
    expectSound(guard);
    await guard.close();
  });

  it.concurrent('a server that does not answer', async () => {
    const chaos = newChaos();
    const guard = await openGuard({ chaos, face, upstream, revision, settings });
    // Over HTTP an answer that is malformed is the answer; on stdio it may belong to anything.
    const malformed = upstream === 'stdio' ? ['both', 'neither'] : [];
    const faults = ['hang', 'wrong_id', 'null_id', ...malformed];
    const answers = await Promise.all(
      faults.flatMap((fault) =>
        ['read', 'write'].map(async (tool) => {
          const key = `${tool}-${fault}`;
          const frame = await guard.call(tool, { key, fault, times: 1 });
          return [key, outcomeOf(frame), chaos.calls(key).length];
        }),
      ),
    );
    expect(answers).toEqual(
      faults.flatMap((fault) => [
        [`read-${fault}`, `ok: done read-${fault}`, 2],
        [`write-${fault}`, 'outcome_unknown, unknown', 1],
      ]),
    );
    expectSound(guard);
    await guard.close();
  });
});

describe.each(cases.filter(({ upstream }) => upstream === 'HTTP'))(
  '$face → guard → HTTP, $revision',
  ({ face, revision }) => {
    it.concurrent('connections that break, and answers that are none', async () => {
      const chaos = newChaos();
      const guard = await openGuard({ chaos, face, upstream: 'HTTP', revision, settings });
      const outcome = async (tool: string, fault: string) => {
        const key = `${tool}-${fault}`;
        const frame = await guard.call(tool, { key, fault, times: 1, ms: 1 });
        return [outcomeOf(frame).replace(key, 'KEY'), chaos.calls(key).length];
      };
      for (const fault of ['sse_cut', 'sse_eof', 'reset', 'http_503', 'http_html']) {
        expect([fault, await outcome('read', fault)]).toEqual([fault, ['ok: done KEY', 2]]);
        const unknown = ['outcome_unknown, unknown', 1];
        expect([fault, await outcome('write', fault)]).toEqual([fault, unknown]);
        expect(chaos.effects(`write-${fault}`)).toHaveLength(1);
      }
      for (const fault of ['garbage', 'both', 'neither', 'empty_202']) {
        const [read] = await outcome('read', fault);
        expect([fault, read]).toEqual([fault, expect.stringMatching(/^(ok|upstream_unavail)/)]);
        const unknown = ['outcome_unknown, unknown', 1];
        expect([fault, await outcome('write', fault)]).toEqual([fault, unknown]);
      }
      expect(await outcome('read', 'http_429')).toEqual(['ok: done KEY', 2]);
      const [limited] = await outcome('write', 'http_429');
      expect(limited).toMatch(/^ok: done|^rate_limited, not_executed$/);
      expect(chaos.effects('write-http_429').length).toBe(limited === 'ok: done KEY' ? 1 : 0);
      expectSound(guard);
      await guard.close();
    });

    it.concurrent('a server that forgets its sessions', async () => {
      const chaos = newChaos();
      const guard = await openGuard({ chaos, face, upstream: 'HTTP', revision, settings });
      for (const fault of ['forget_404', 'forget_400']) {
        await guard.call('read', { key: fault, fault });
        expect(textIn(await guard.call('write', { key: `after-${fault}` }))).toBe(
          `done after-${fault}`,
        );
        expect(chaos.effects(`after-${fault}`)).toHaveLength(1);
      }
      expectSound(guard);
      await guard.close();
    });
  },
);
