import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
    const model = claudeOf(sandbox, { ...options, timeouts: { connectMs: 5_000 } });
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

  it.for([{}, { structured_output: null }])(
    'a missing structured answer is no success with the text null: %j',
    async (missing) => {
      const result = { type: 'result', subtype: 'success', is_error: false };
      const said = { stop_reason: 'end_turn', result: 'I cannot do that.', usage: {} };
      const answer = { ...result, ...said, ...missing };
      const model = await cliOf(`write(${JSON.stringify(answer)})`);
      const error = await errorOf(model.complete({ ...ask(), responseSchema: { type: 'object' } }));
      expect(error).toMatchObject({ code: 'bad_response', retriable: true, attempts: 3 });
      expect(error.message).toContain('Claude says: I cannot do that');
    },
  );

  it.for([
    ['refusal', 'filtered'],
    ['max_tokens', 'length'],
  ] as const)(
    'a structured answer that is missing for the reason %s has that finish',
    async ([stopReason, finish]) => {
      const result = { type: 'result', subtype: 'success', is_error: false, result: 'No.' };
      const answer = { ...result, stop_reason: stopReason, usage: {} };
      const model = await cliOf(`write(${JSON.stringify(answer)})`);
      const request = { ...ask(), responseSchema: { type: 'object' } };
      expect(await model.complete(request)).toMatchObject({ finish, text: '', attempts: 1 });
    },
  );

  it('one that repeats a request itself is ended, and the retries are ours', async () => {
    const retry = { attempt: 1, max_retries: 10, retry_delay_ms: 500, error_status: 529 };
    const message = { type: 'system', subtype: 'api_retry', error: 'overloaded', ...retry };
    const model = await cliOf(`write(${JSON.stringify(message)}); finish('Repeated');`);
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'overloaded', status: 529, retriable: true, attempts: 3 });
    await expectNoChildren();
  });

  it('one that renews its login is left to it', async () => {
    const cause = { error_status: 401, error: 'authentication_failed' };
    const message = { type: 'system', subtype: 'api_retry', attempt: 0, ...cause };
    const model = await cliOf(`write(${JSON.stringify(message)}); finish('Welcome back');`);
    expect(await model.complete(ask())).toMatchObject({ text: 'Welcome back', attempts: 1 });
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

describe('the limit of a plan', () => {
  const inAnHour = Math.ceil(Date.now() / 1000 + 3_600);
  const failing = (status: number, limit: object) =>
    cliOf(`write({ type: 'rate_limit_event', rate_limit_info: ${JSON.stringify(limit)} });
      write({ type: 'result', subtype: 'success', is_error: true, api_error_status: ${status}, result: 'no', usage: {} })`);
  const noCredits = { overageStatus: 'rejected', overageDisabledReason: 'out_of_credits' };

  it.for([
    ['a 529', 529, 'overloaded'],
    ['a plain 429', 429, 'rate_limited'],
  ] as const)(
    'that allows the request does not make %s a billing error or a long wait',
    async ([, status, code]) => {
      const limit = { status: 'allowed', resetsAt: inAnHour, ...noCredits };
      const error = await errorOf((await failing(status, limit)).complete(ask()));
      expect(error).toMatchObject({ code, retriable: true, attempts: 3 });
      expect(error).not.toHaveProperty('retryAfterMs');
    },
  );

  it.for([noCredits, { errorCode: 'credits_required' }])(
    'that is used up is waited for until its reset, although credits would help: %j',
    async (reason) => {
      const model = await failing(429, { status: 'rejected', resetsAt: inAnHour, ...reason });
      const error = await errorOf(model.complete(ask()));
      expect(error).toMatchObject({ code: 'rate_limited', retriable: true, attempts: 1 });
      expect(error.retryAfterMs).toBeGreaterThan(3_000_000);
      expect(await errorOf(model.complete(ask()))).toMatchObject({ code: 'cooling_down' });
    },
  );

  it('that no reset follows is a matter of billing if the request needs credits', async () => {
    const model = await failing(429, { status: 'rejected', errorCode: 'credits_required' });
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'billing', retriable: false, attempts: 1 });
  });

  it('does not hide that the API refuses the request for another reason', async () => {
    const model = await failing(400, { status: 'rejected', resetsAt: inAnHour });
    const error = await errorOf(model.complete(ask()));
    expect(error).toMatchObject({ code: 'invalid_request', retriable: false, status: 400 });
    expect(error).not.toHaveProperty('retryAfterMs');
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

  it.for([
    ['the name of its model', { model: 'son\0net' }],
    ['its schema', { responseSchema: { type: 'object', title: 'x'.repeat(300_000) } }],
  ] as const)(
    'that cannot be given %s fails this request only, and leaves nothing behind',
    async ([, extra]) => {
      const temporary = mkdtempSync(join(folder, 'tmp-'));
      const model = await cliOf("finish('ok')", { maxProcesses: 1 });
      vi.stubEnv('TMPDIR', temporary);
      const error = await errorOf(model.complete({ ...ask(), ...extra }));
      expect(error).toMatchObject({ code: 'unsupported', retriable: false });
      expect(error.message).toMatch(/cannot be passed to the Claude CLI/);
      expect(readdirSync(temporary)).toEqual([]);
      expect(await model.complete(ask())).toMatchObject({ text: 'ok' });
    },
  );

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

it('a killed parent leaves neither a child that ignores the end of its input nor its folders', async () => {
  const deaf = join(folder, 'deaf.mjs');
  writeFileSync(
    deaf,
    "process.on('SIGTERM', () => {}); process.stdin.resume(); setInterval(() => {}, 1000); console.log('up');",
  );
  const program = fileURLToPath(new URL('../dist/claude/parent.fixture.js', import.meta.url));
  const folders = mkdtempSync(join(folder, 'guarded-'));
  const parent = spawn(process.execPath, [program, deaf, folders], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [output] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(output.toString());
  expect(isAlive(pid)).toBe(true);
  expect(readdirSync(folders)).toHaveLength(3);
  parent.kill('SIGKILL');
  await expect.poll(() => isAlive(pid)).toBe(false);
  await expect.poll(() => readdirSync(folders)).toEqual([expect.stringMatching(/^released /)]);
  rmSync(folder, { recursive: true });
});
