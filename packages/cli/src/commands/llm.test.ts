import { describe, expect, it } from 'vitest';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { llm, type LlmFlags } from './llm.js';

const dir = useTempDir();

async function asked(flags: LlmFlags, env: Readonly<Record<string, string>> = {}) {
  const runtime = fakeRuntime({ cwd: dir(), env: { PATH: process.env['PATH'], ...env } });
  const code = await llm('Why is the sky blue?', flags, runtime, new Promise(() => {}));
  return { code, out: runtime.output(), err: runtime.errorOutput() };
}

describe('toolkeel llm --sandbox', () => {
  it('streams the answer to stdout and notices to stderr', async () => {
    const { code, out, err } = await asked({ sandbox: true });
    expect(code).toBe(0);
    expect(out).toMatch(/^You asked: Why is the sky blue\? .*carry\.\n$/);
    expect(err).toMatch(/^\[gemini gemini-2\.5-flash\]\n\[finished: stop, 1 attempt, .* tokens/);
  });

  it('shows retries and resets as they happen', async () => {
    const fault = ['llm-error-event@gemini-stream;times=1'];
    const { code, out, err } = await asked({ sandbox: true, fault });
    expect(code).toBe(0);
    const notices = err.trim().split('\n');
    expect(notices[1]).toMatch(/attempt 1 failed: .*overloaded.* Trying again in [2-4]\.\d s\./);
    expect(notices[2]).toMatch(/begins again/);
    expect(notices.at(-1)).toMatch(/2 attempts/);
    expect(out.split('\n')).toHaveLength(3);
  });

  it('names the wait that the provider asks for only once', async () => {
    const fault = ['llm-429-retry-after-ms@gemini-stream;times=1'];
    const { code, err } = await asked({ sandbox: true, provider: 'gemini', fault });
    expect(code).toBe(0);
    expect(err).toMatch(/attempt 1 failed: .* Try again in 0\.1 s\. Waiting\.\]/);
  });

  it('asks the next model and prints events as JSON', async () => {
    const fault = ['http-401@gemini-stream'];
    const { code, out } = await asked({ sandbox: true, fault, json: true });
    expect(code).toBe(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['retry', 'done']));
    expect(events.at(-1)).toMatchObject({ completion: { provider: 'claude' } });
  });

  it('fails with a message and exit code 1', async () => {
    const { code, err } = await asked({ sandbox: true, provider: 'gemini', fault: ['http-400'] });
    expect(code).toBe(1);
    expect(err).toMatch(/HTTP 400/);
  });

  it.for([
    ['http-529', /attempt 1 failed: .*HTTP 529/],
    ['llm-error-event', /begins again/],
    ['llm-stall-mid-stream', /sent no bytes within 3 s/],
    ['cli-crash', /attempt 1 failed: .*exit code 3/],
  ] as const)('the fault %s reaches the API that Claude asks', async ([kind, notice]) => {
    const flags = { sandbox: true, provider: 'claude', fault: [`${kind};times=1`] };
    const { code, err } = await asked(flags);
    expect(code).toBe(0);
    expect(err).toMatch(notice);
    expect(err).toMatch(/2 attempts/);
  });

  it('Ctrl-C ends it with the exit code of an interrupted program', async () => {
    let stop = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (stop = resolve));
    const runtime = fakeRuntime({ cwd: dir(), env: { PATH: process.env['PATH'] } });
    const out = { ...runtime.stdout, write: () => stop() };
    const flags = { sandbox: true, fault: ['llm-stall-mid-stream'] };
    expect(await llm('Why?', flags, { ...runtime, stdout: out }, stopped)).toBe(130);
    expect(runtime.errorOutput()).toMatch(/\[cancelled\]\n$/);
  });

  it('ignores credentials of the environment', async () => {
    const env = { TOOLKEEL_GEMINI_API_KEY: 'real', TOOLKEEL_GEMINI_BASE_URL: 'http://127.0.0.1:9' };
    expect((await asked({ sandbox: true, provider: 'gemini' }, env)).code).toBe(0);
  });
});

it('refuses an empty question', async () => {
  const runtime = fakeRuntime({ cwd: dir(), env: {} });
  const answer = llm(' ', { sandbox: true }, runtime, new Promise(() => {}));
  await expect(answer).rejects.toThrow('The question is empty.');
});

it('says what to do if nothing is configured', async () => {
  const runtime = fakeRuntime({ cwd: dir(), env: {} });
  expect(await llm('Why?', {}, runtime, new Promise(() => {}))).toBe(1);
  expect(runtime.errorOutput()).toMatch(/No language model is configured.* or try --sandbox/);
});
