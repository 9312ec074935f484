import { afterEach, describe, expect, it } from 'vitest';
import { createRig, readTool, text, writeTool, type Rig, type RigOptions } from './rig.fixture.js';

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

const quick = { policy: { initialBackoffMs: 1, maxBackoffMs: 2, breaker: false, budget: false } };
const open = (chaos: object, more: RigOptions = {}): Rig =>
  (rig = createRig({
    onCall: ({ name }) => text(`done ${name}`),
    ...more,
    config: { ...quick, ...more.config, chaos: { seed: 7, ...chaos } },
  }));
const eventsOf = (event: string) => rig?.logs().filter((entry) => entry['event'] === event) ?? [];

describe('fault injection', () => {
  it('is announced when the guard starts, with the seed that repeats it', () => {
    open({ rate: 0.2 });
    expect(eventsOf('chaos_enabled')).toMatchObject([
      { upstream: 'fake', rate: 0.2, seed: 7, all: false },
    ]);
    expect(eventsOf('chaos_enabled')[0]?.['message']).toContain('calls of read tools');
  });

  it('is announced also by a guard whose log is silent', async () => {
    const { createGuard } = await import('./guard.js');
    const { upstreamSchema } = await import('./config.js');
    const { loadConfig } = await import('@toolkeel/host');
    let written = '';
    const settings = { journal: { url: 'memory:' }, log: { level: 'silent' } };
    const guard = createGuard({
      loaded: loadConfig({ env: {}, cwd: '/nonexistent', settings }),
      name: 'fake',
      config: upstreamSchema.parse({ command: 'unused', chaos: { rate: 1 } }),
      connect: () => ({ send() {}, pause() {}, resume() {}, close: () => Promise.resolve() }),
      writeLog: (lines) => void (written += lines),
    });
    await guard.close();
    expect(written).toContain('"event":"chaos_enabled"');
  });

  it.each(['error', 'lost', 'refused', 'rate_limited', 'crash', 'hang'] as const)(
    'hides the fault %s from the client, and reports it',
    async (fault) => {
      // With this seed some attempts of these calls fail, but never three in a row.
      open({ rate: 0.3, faults: [fault], hangSecs: 0.01, seed: 11 });
      const client = await rig!.client();
      for (let index = 0; index < 12; index++) {
        const { result } = await client.call('get', { index });
        expect(result).toMatchObject(text('done get'));
      }
      await rig!.close();
      const [summary] = eventsOf('chaos_summary');
      expect(summary).toMatchObject({ calls: 12, failed_with: 0 });
      const without = Number(summary?.['failed_without']);
      expect(without).toBeGreaterThan(0);
      expect(summary?.['faults']).toEqual({ [fault]: without });
      expect(summary?.['message']).toContain(`Without the guard ${without} would have failed`);
    },
  );

  it('delays answers, which fails no call', async () => {
    open({ rate: 1, faults: ['delay'] });
    const client = await rig!.client();
    const calls = [1, 2, 3].map((index) => client.call('get', { index }));
    expect(await Promise.all(calls)).toMatchObject([1, 2, 3].map(() => ({ result: {} })));
    await rig!.close();
    expect(eventsOf('chaos_summary')).toMatchObject([
      { calls: 3, failed_without: 0, failed_with: 0, delayed: 3 },
    ]);
  });

  it('repeats the same faults with the same seed', async () => {
    const run = async (): Promise<unknown> => {
      open({ rate: 0.5, faults: ['error', 'refused', 'lost'] });
      const client = await rig!.client();
      for (let index = 0; index < 10; index++) await client.call('get', { index });
      await rig!.close();
      return eventsOf('chaos_summary')[0]?.['faults'];
    };
    expect(await run()).toEqual(await run());
  });

  it('counts the calls that the guard could not save', async () => {
    open({ rate: 1, faults: ['error'] });
    const client = await rig!.client();
    const { result } = await client.call('get');
    expect(result).toMatchObject({ isError: true });
    await rig!.close();
    expect(eventsOf('chaos_summary')).toMatchObject([
      { calls: 1, failed_without: 1, failed_with: 1 },
    ]);
  });

  it('does not count errors of the server itself as failures of the rehearsal', async () => {
    open({ rate: 0 }, { onCall: () => ({ ...text('no such file'), isError: true }) });
    const client = await rig!.client();
    await client.call('get');
    await rig!.close();
    expect(eventsOf('chaos_summary')).toMatchObject([
      { calls: 1, failed_without: 0, failed_with: 0 },
    ]);
  });

  it('leaves mutations alone, also those in flight when a read draws a crash', async () => {
    const upstream: { release?: () => void } = {};
    open(
      { rate: 1, faults: ['crash'] },
      {
        tools: [readTool, writeTool],
        config: { policy: { ...quick.policy, maxRetries: 0 } },
        onCall: ({ name, id }, fake) => {
          if (name === 'get') return text('done get');
          upstream.release = () => fake.send({ id, result: text('done add') });
          return undefined;
        },
      },
    );
    const client = await rig!.client();
    const adding = client.call('add', { a: 1 });
    await expect.poll(() => upstream.release).toBeDefined();
    const read = await client.call('get');
    expect(read.result).toMatchObject({ isError: true });
    upstream.release?.();
    expect((await adding).result).toMatchObject(text('done add'));
    expect(rig!.upstream.starts()).toBe(1);
  });

  it('makes the outcome of a mutation unknown only if told so', async () => {
    open({ rate: 1, faults: ['lost'], all: true });
    const client = await rig!.client();
    const { result } = await client.call('add', { a: 1 });
    expect(result?.['structuredContent']).toMatchObject({ error: { code: 'outcome_unknown' } });
    expect(rig!.upstream.calls).toHaveLength(1);
    expect(eventsOf('chaos_enabled')[0]?.['message']).toContain('including mutations');
  });
});
