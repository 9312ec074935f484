import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClaudeOptions, Model } from '@toolkeel/llm';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runningChildren } from '../src/claude/children.js';
import { ask, asked, claudeOf, errorOf, expectNoChildren, sandboxOf } from './support/rig.js';

const folder = mkdtempSync(join(tmpdir(), 'toolkeel-cli-test-'));

afterEach(() => vi.unstubAllEnvs());

/** A program in the place of the CLI that answers each question with what `body` writes. */
async function cliOf(body: string, options: Partial<ClaudeOptions> = {}): Promise<Model> {
  const cliPath = join(folder, 'cli.mjs');
  const source = `import { createInterface } from 'node:readline';
const write = (message) => process.stdout.write(JSON.stringify({ session_id: 's', uuid: 'u', ...message }) + '\\n');
const finish = (text) => {
  const result = { type: 'result', subtype: 'success', is_error: false, stop_reason: 'end_turn' };
  write({ type: 'assistant', parent_tool_use_id: null, message: { model: 'm', content: [{ type: 'text', text }] } });
  write({ ...result, result: text, usage: { input_tokens: 1, output_tokens: 1 }, total_cost_usd: 0 });
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { type, request_id } = JSON.parse(line);
  if (type === 'control_request') write({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } });
  if (type === 'user') { ${body} }
});
`;
  writeFileSync(cliPath, source);
  return claudeOf(await sandboxOf(), { cliPath, ...options });
}

// The stand-in only: the CLI itself cannot be told to misbehave.
describe('a misbehaving CLI', () => {
  it.for([
    ['cli-exit-mid-turn', 'incomplete_stream', /exit code 0/],
    ['cli-crash', 'process_exited', /exit code 3/],
  ] as const)('%s is an error with the partial text', async ([kind, code, message]) => {
    const sandbox = await sandboxOf({ faults: [{ kind, routes: ['cli'] }] });
    const error = await errorOf(claudeOf(sandbox).complete(ask()));
    expect(error).toMatchObject({ code, attempts: 3, retriable: true, phase: 'stream' });
    expect(error.message).toMatch(message);
    expect(error.partialText).toMatch(/^You asked/);
    await expectNoChildren();
  });

  it('lines that are not JSON do no harm', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-garbage', routes: ['cli'] }] });
    expect(await claudeOf(sandbox).complete(ask())).toMatchObject({ finish: 'stop', attempts: 1 });
  });

  it('one that does not start is ended by the connect clock', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-no-start', routes: ['cli'] }] });
    const options = { timeouts: { connectMs: 500 }, policy: { maxRetries: 0 } };
    const error = await errorOf(claudeOf(sandbox, options).complete(ask()));
    expect(error).toMatchObject({ clock: 'connect', phase: 'connect' });
    await expectNoChildren();
  });

  it('one that ignores the end of its input and SIGTERM is killed', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'cli-deaf', routes: ['cli'] }] });
    const options = { timeouts: { contentIdleMs: 300 }, policy: { maxRetries: 0 } };
    const error = await errorOf(claudeOf(sandbox, options).complete(ask()));
    expect(error).toMatchObject({ clock: 'content_idle', phase: 'stream' });
    // The caller has the answer while the process still runs.
    expect(runningChildren()).toHaveLength(1);
    await expectNoChildren();
  });

  it('no more of them run than allowed, and waiting has an end', async () => {
    const sandbox = await sandboxOf({
      faults: [{ kind: 'cli-no-start', routes: ['cli'], times: 1 }],
    });
    const options = { maxProcesses: 1, maxQueue: 1, policy: { maxRetries: 0 } };
    const model = claudeOf(sandbox, { ...options, timeouts: { connectMs: 1_000 } });
    const results = await Promise.allSettled([1, 2, 3].map(() => model.complete(ask())));
    const outcomes = results.map((result) =>
      result.status === 'fulfilled' ? 'ok' : (result.reason as { code: string }).code,
    );
    expect(outcomes).toEqual(['timeout', 'ok', 'busy']);
    await expectNoChildren();
  });

  it.for([
    ['a message without its content', "write({ type: 'assistant' })"],
    ['an event without its type', "write({ type: 'stream_event', parent_tool_use_id: null })"],
  ] as const)('%s is a bad response, which is retried', async ([, body]) => {
    const error = await errorOf((await cliOf(body)).complete(ask()));
    expect(error).toMatchObject({ code: 'bad_response', retriable: true, attempts: 3 });
    await expectNoChildren();
  });

  it('a result without a stop reason is no success', async () => {
    const body =
      "write({ type: 'result', subtype: 'success', is_error: false, result: 'Half', usage: {} })";
    const error = await errorOf((await cliOf(body)).complete(ask()));
    expect(error).toMatchObject({ code: 'incomplete_stream', attempts: 3 });
  });

  it.for([
    ['one endless line', "'x'.repeat(100_000)"],
    ['endless lines', "JSON.stringify({ type: 'x'.repeat(100_000) }) + '\\n'"],
  ] as const)('%s cannot fill the memory', async ([, piece]) => {
    const body = `const go = () => { while (process.stdout.write(${piece})); }; process.stdout.on('drain', go); go();`;
    const error = await errorOf((await cliOf(body)).complete(ask()));
    expect(error).toMatchObject({ code: 'bad_response', retriable: false, attempts: 1 });
    await expectNoChildren();
  });

  it('a reset in the past or in years is not waited for', async () => {
    for (const resetsAt of [1, Date.now() / 1000 + 1e9]) {
      const body = `write({ type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: ${resetsAt} } });
        write({ type: 'result', subtype: 'success', is_error: true, result: 'limit', usage: {} })`;
      const error = await errorOf((await cliOf(body)).complete(ask()));
      expect(error).toMatchObject({ code: 'rate_limited', attempts: 3 });
      expect(error.retryAfterMs).toBeUndefined();
    }
  });

  it('counts cached input as input', async () => {
    const usage = { input_tokens: 3, cache_read_input_tokens: 40, cache_creation_input_tokens: 7 };
    const result = { type: 'result', subtype: 'success', is_error: false, stop_reason: 'end_turn' };
    const message = { ...result, result: 'ok', usage: { ...usage, output_tokens: 2 } };
    const completion = await (await cliOf(`write(${JSON.stringify(message)})`)).complete(ask());
    const expected = { inputTokens: 50, outputTokens: 2, cachedInputTokens: 40 };
    expect(completion.usage).toEqual(expected);
  });
});

describe('the process of the CLI', () => {
  it('has no variable that it does not need, and no API key', async () => {
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-ant-must-not-leak');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'must-not-leak');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'must-not-leak');
    const { text } = await (await cliOf('finish(JSON.stringify(process.env))')).complete(ask());
    const env = JSON.parse(text) as Readonly<Record<string, string>>;
    expect(env).toMatchObject({ CLAUDE_CODE_MAX_RETRIES: '0', PATH: process.env['PATH'] });
    expect(env).not.toHaveProperty('ANTHROPIC_API_KEY');
    expect(text).not.toContain('must-not-leak');
  });

  it('never says the token that it was given', async () => {
    const token = 'sk-ant-oat01-made-up-token';
    const body = `write({ type: 'result', subtype: 'success', is_error: true, api_error_status: 401, result: 'bad token ${token}', usage: {} })`;
    const model = await cliOf(body, { env: { ...process.env, CLAUDE_CODE_OAUTH_TOKEN: token } });
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'auth', attempts: 1 });
    expect(error.message).toContain('bad token [redacted]');
  });

  it('that cannot be started is a matter of configuration', async () => {
    const cliPath = join(folder, 'claude');
    writeFileSync(cliPath, '#!/nowhere/interpreter\n');
    const sandbox = await sandboxOf();
    for (const [mode, message] of [
      [0o600, /is not executable/],
      [0o700, /cannot be started \(ENOENT\)/],
    ] as const) {
      chmodSync(cliPath, mode);
      const model = claudeOf(sandbox, { cliPath });
      const error = await errorOf(model.complete(ask()));
      expect(error).toMatchObject({ code: 'not_configured', retriable: false });
      expect(error.message).toMatch(message);
      expect(await model.health()).toMatchObject([
        { state: 'down', detail: expect.stringMatching(message) },
      ]);
    }
    await expectNoChildren();
  });

  it('that has no directory to start in holds no slot', async () => {
    const model = await cliOf("finish('ok')", { maxProcesses: 1 });
    vi.stubEnv('TMPDIR', '/nowhere');
    expect(await errorOf(model.complete(ask()))).toMatchObject({ code: 'not_configured' });
    vi.unstubAllEnvs();
    expect(await model.complete(ask())).toMatchObject({ text: 'ok' });
  });

  it('is ended by close, and none is started for requests that wait', async () => {
    const sandbox = await sandboxOf({ faults: [{ kind: 'stall', routes: ['messages'] }] });
    const model = claudeOf(sandbox, { maxProcesses: 1 });
    const failing = [1, 2, 3].map(() => errorOf(model.complete(ask())));
    await expect.poll(() => asked(sandbox)).toBe(1);
    await model.close();
    expect(runningChildren()).toEqual([]);
    for (const error of await Promise.all(failing)) {
      expect(error).toMatchObject({ code: 'cancelled', message: 'The model claude is closed.' });
    }
    expect(asked(sandbox)).toBe(1);
  });

  it('that does not tell whether it is logged in is of unknown health', async () => {
    const cliPath = join(folder, 'old.mjs');
    writeFileSync(
      cliPath,
      "console.log(process.argv[2] === '--version' ? '1.0.0' : 'unknown command');",
    );
    const model = claudeOf(await sandboxOf(), { cliPath });
    expect(await model.health()).toMatchObject([{ state: 'unknown' }]);
  });
});

const isAlive = (pid: number): boolean => {
  try {
    // A zombie has ended; only its parent has not asked yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

it('a child that ignores the end of its input does not survive a killed parent', async () => {
  const deaf = join(folder, 'deaf.mjs');
  writeFileSync(
    deaf,
    "process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000); console.log('up');",
  );
  const program = fileURLToPath(new URL('../dist/claude/parent.fixture.js', import.meta.url));
  const parent = spawn(process.execPath, [program, deaf], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  expect(isAlive(pid)).toBe(true);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
  rmSync(folder, { recursive: true });
});
