import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '@toolkeel/host';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeFailure } from './errors.js';
import { openHost, type ServerFlags } from './open-host.js';
import { cliPack, openCatalog } from './packs.js';
import { run } from './run.js';
import { fakeRuntime, useTempDir } from './runtime.fixture.js';
import { ownVersion } from './runtime.js';

const dir = useTempDir();

const ended = async (args: readonly string[], env: Record<string, string> = {}) => {
  const runtime = fakeRuntime({ cwd: dir(), env });
  const code = await run(args, runtime);
  return { code, out: runtime.output(), err: runtime.errorOutput() };
};

const open = async (
  named: readonly string[],
  flags: ServerFlags,
  runtime: ReturnType<typeof fakeRuntime>,
) => openHost(await openCatalog(flags, runtime), named, flags, runtime);

const commands = [
  'up',
  'serve',
  'sandbox',
  'manifest',
  'doctor',
  'init',
  'llm',
  'login',
  'operations',
  'approvals',
  'audit',
];
const subcommands: Readonly<Record<string, readonly string[]>> = {
  operations: ['list', 'show', 'resolve'],
  approvals: ['list', 'show', 'approve', 'reject', 'edit'],
  audit: ['head', 'verify', 'export'],
};

describe('help', () => {
  it('lists every command and shows an example', async () => {
    const { code, out } = await ended(['--help']);
    expect(code).toBe(0);
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command} `, 'm'));
    expect(out).toContain('  $ toolkeel up --sandbox');
  });

  it.each(commands)('of %s shows an example', async (command) => {
    for (const args of [
      [command, '--help'],
      ['help', command],
    ]) {
      const { code, out, err } = await ended(args);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(new RegExp(`\\$ .*toolkeel ${command}`));
    }
  });

  it.each(
    Object.entries(subcommands).flatMap(([name, own]) => own.map((part) => [name, part] as const)),
  )('of %s %s shows an example', async (name, part) => {
    const { code, out } = await ended([name, part, '--help']);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`\\$ toolkeel ${name} ${part}`));
  });

  it('of the sandbox shows the flags of its upstreams', async () => {
    expect((await ended(['sandbox', '--help'])).out).toMatch(
      /--fault <rule> .*--latency <shape> /s,
    );
  });
});

it.each(['--version', '-V'])('%s prints the version', async (flag) => {
  expect(await ended([flag])).toEqual({ code: 0, out: `${ownVersion()}\n`, err: '' });
});

describe('without a journal', () => {
  it.each([
    ['operations', 'list'],
    ['approvals', 'list'],
    ['audit', 'head'],
  ])('%s %s names the missing file and does not create it', async (...args) => {
    const data = join(dir(), 'data');
    const { code, err } = await ended(args, { TOOLKEEL_DATA_DIR: data });
    expect(code).toBe(1);
    expect(err).toContain(`There is no journal at ${join(data, 'journal.db')}`);
    expect(existsSync(data)).toBe(false);
  });
});

describe('invalid usage', () => {
  it.each([
    [['serve', '--profile', 'readonli'], /--profile: .*Did you mean "readonly"/],
    [['serve', '--log-level', 'loud'], /--log-level: .*must be one of/],
    [['serve', '--http', 'a/b'], /is not an address/],
    [['serve', '--http', 'a:b'], /is not a port/],
    [['serve', '--profil', 'api'], /unknown option '--profil'.*Did you mean --profile/s],
    [['serv'], /Did you mean serve/],
    [['up', '--port', '70000'], /is not a port/],
    [['doctor', 'stac'], /too many arguments/],
    [['llm'], /missing required argument 'question'/],
    [['llm', 'Why?', '--recovery', 'hope'], /--recovery must be one of error, restart/],
    [['llm', 'Why?', '--provider', 'gpt'], /--provider must be claude or gemini/],
    [['llm', 'Why?', '--fault', 'stall'], /--fault requires --sandbox/],
    [['sandbox', '--flavour', 'x'], /stac: flavour "x" is not one of/],
    [['login', 'stac'], /stac requires no login/],
    [['login', 'y'], /Unknown pack "y"/],
    [['login', 'x'], /--client-id ID, or set TOOLKEEL_X_CLIENT_ID/],
    [['login', 'x', '--client-id', ''], /--client-id is empty/],
    [['login', 'x', '--scopes', ' ,'], /--scopes must be names/],
    [['login', 'x', '--timeout', 'long'], /--timeout must be a number of seconds/],
    [['sandbox', 'stac', '--fault', 'a', '--fault', 'b'], /"?a"?/],
    [['manifest', '--profile', 'all'], /Unknown profile "all"/],
    [['init'], /Cannot prompt here/],
    [['operations', 'list', '--state', 'unknwon'], /no state "unknwon".*Did you mean "unknown"/],
    [['operations', 'list', '--since', 'yesterday'], /since must be a time/],
    [['operations', 'list', '--limit', '0'], /limit must be/],
    [['operations', 'resolve', 'op_1'], /--outcome/],
    [['operations', 'resolve', 'op_1', '--outcome', 'done'], /executed or not_executed/],
    [
      ['operations', 'resolve', 'op_1', '--outcome', 'executed', '--data', '{'],
      /--data must be JSON/,
    ],
    [['approvals', 'edit', 'op_1', '--hash', 'h'], /Nothing to change/],
    [['approvals', 'edit', 'op_1', '--set', 'x'], /name=value/],
    [['approvals', 'approve', 'op_1', '--by', '\u001b[2J'], /--by must be a name/],
    [['audit', 'verify', '--expect', '12'], /SEQ:HASH/],
    [['audit', 'export', '--format', 'xml'], /jsonl or csv/],
    [[], /Usage: toolkeel/],
  ])('%j exits with 2 and a message without a stack', async (args, message) => {
    const { code, out, err } = await ended(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toMatch(/^\s+at /m);
  });

  it.each(['', ' '])('treats an X client id of %j in the environment as not set', async (id) => {
    const { code, out, err } = await ended(['login', 'x'], { TOOLKEEL_X_CLIENT_ID: id });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/requires a client id/);
  });

  it('reports every mistake of the configuration at once', async () => {
    const config = { profil: 'api', packs: { stac: { catalogs: { a: { ulr: 'x' } } } } };
    writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));
    const { code, err } = await ended(['serve']);
    expect(code).toBe(2);
    expect(err).toMatch(/\/profil: .*"profile"/);
    expect(err).toMatch(/\/packs\/stac\/catalogs\/a\/ulr: .*"url"/);
  });

  it('names the variable that contains a secret, and suggests a working alternative', async () => {
    const { code, err } = await ended(['serve'], {
      TOOLKEEL_STAC_URL: 'https://u:hunter2-hunter2@stac.example.com/v1',
    });
    expect(code).toBe(2);
    expect(err).toMatch(/^toolkeel: TOOLKEEL_STAC_URL: \/packs\/stac\/catalogs\/default\/url: /);
    expect(err).not.toContain('hunter2');
    const [, where, example = ''] = /remove it and set (\S+), such as (\{.*\})/.exec(err) ?? [];
    expect(where).toBe('/packs/stac/catalogs/default/headers');
    const headers = JSON.parse(example) as unknown;
    const config = { packs: { stac: { catalogs: { default: { headers } } } } };
    const env = { TOOLKEEL_STAC_URL: 'https://stac.example.com/v1', NAME: 'hunter2-hunter2' };
    writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));
    const { pack, fromEnvironment } = await cliPack('stac').load();
    const loaded = loadConfig({
      cwd: dir(),
      env,
      packs: [{ pack, ...(fromEnvironment && { fromEnvironment }) }],
    });
    expect(loaded.credentials).toEqual([
      { pointer: `${where}/Authorization`, from: 'the variable NAME' },
    ]);
  });

  it('refuses keys in URLs, which results and page tokens would expose', async () => {
    const url = 'https://stac.example.com/v1?api_key=hunter2-hunter2';
    const config = { packs: { stac: { catalogs: { ours: { url } } } } };
    writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));
    const { code, err } = await ended(['serve']);
    expect(code).toBe(2);
    expect(err).toMatch(/\/packs\/stac\/catalogs\/ours\/url: contains a secret in its query/);
    expect(err).not.toContain('hunter2');
  });

  it('shows the stack only in verbose mode', async () => {
    const args = ['manifest', '--check', 'none.json'];
    expect((await ended([...args, '--verbose'])).err).toMatch(/^\s+at /m);
    expect((await ended(args, { TOOLKEEL_LOG_LEVEL: 'debug' })).err).toMatch(/^\s+at /m);
    expect((await ended(args)).err).not.toMatch(/^\s+at /m);
  });
});

describe('a profile that requires fewer approvals than the configuration', () => {
  const configure = (more: object = {}): void => {
    const config = { profile: 'workflow', ...more };
    writeFileSync(join(dir(), 'toolkeel.config.json'), JSON.stringify(config));
  };

  it.each<[string, ServerFlags, Record<string, string>]>([
    ['--profile', { profile: 'api' }, {}],
    ['TOOLKEEL_PROFILE', {}, { TOOLKEEL_PROFILE: 'api' }],
  ])('is refused when %s sets it, with the flag that accepts it', async (by, flags, env) => {
    configure();
    const opening = open(['x'], flags, fakeRuntime({ cwd: dir(), env }));
    const failure = await opening.catch((thrown: unknown) => describeFailure(thrown, false));
    expect(failure).toEqual({
      exitCode: 2,
      message: expect.stringContaining(`${by}: moves the server from workflow (composer)`),
    });
    expect(failure).toHaveProperty('message', expect.stringContaining('--without-approval'));
  });

  it('is logged as a warning when --without-approval accepts it', async () => {
    configure();
    const runtime = fakeRuntime({
      cwd: dir(),
      env: { TOOLKEEL_DATA_DIR: join(dir(), 'data') },
    });
    const opened = await open(['x'], { profile: 'api', withoutApproval: true }, runtime);
    await opened.close();
    expect(opened.host.profile.name).toBe('api');
    const lines = runtime.errorOutput().split('\n').filter(Boolean);
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        event: 'acting_without_approval',
        by: '--profile',
        from: 'workflow (composer)',
        to: 'api',
      }),
    );
    const examined = await ended(['doctor'], {
      TOOLKEEL_DATA_DIR: join(dir(), 'data'),
      TOOLKEEL_PROFILE: 'api',
    });
    expect(examined.out).toMatch(/^warn +approvals +TOOLKEEL_PROFILE changes the profile/m);
  });

  it.each<[string, ServerFlags]>([
    ['without a flag', {}],
    ['with --without-approval', { withoutApproval: true }],
    ['with --sandbox', { sandbox: true }],
  ])(
    'is refused with the entries to change if the mode of the file requires approval: %s',
    async (_, flags) => {
      configure({ mode: 'composer', packs: { x: {} } });
      const runtime = fakeRuntime({ cwd: dir(), env: {} });
      const opening = open(['x'], { profile: 'api', ...flags }, runtime);
      const failure = await opening.catch((thrown: unknown) => describeFailure(thrown, false));
      const message = expect.stringMatching(
        /^--profile: moves .* Drop --profile, or change \/mode \(/,
      ) as string;
      expect(failure).toEqual({ exitCode: 2, message });
      expect(runtime.errorOutput()).toBe('');
    },
  );

  it('is reported by doctor with the entries to change', async () => {
    configure({ mode: 'composer', packs: { x: {} } });
    const { code, out } = await ended(['doctor'], { TOOLKEEL_PROFILE: 'api' });
    expect(code).toBe(1);
    expect(out).toMatch(/^FAIL +configuration +TOOLKEEL_PROFILE: moves .* or change \/mode \(/m);
  });

  it('is not logged if the policy is refused', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    configure({ rules: [{ name: 'a', action: 'deny', when: { tool: 'x_pots_tweet' } }] });
    const runtime = fakeRuntime({ cwd: dir(), env: {} });
    const opening = open(['x'], { profile: 'api', withoutApproval: true }, runtime);
    await expect(opening).rejects.toThrow('unknown tool "x_pots_tweet"');
    // The log writes its first batch after a delay. Another suite's timer may reschedule itself forever.
    await vi.advanceTimersByTimeAsync(1000);
    await vi.dynamicImportSettled();
    expect(runtime.errorOutput()).toBe('');
  });
});
