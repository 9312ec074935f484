import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigError } from '../errors.js';
import { loadConfig } from '../config/load.js';
import { createHost } from '../host.js';
import { packOf, shelf } from './governed.fixture.js';
import { openGovernance } from './governance.js';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'toolkeel-govern-'));
});
afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

const opened = async (config: object, env: Record<string, string> = {}) => {
  const file = join(cwd, 'toolkeel.config.json');
  writeFileSync(file, JSON.stringify({ dataDir: 'data', ...config }));
  const { tools } = shelf();
  const pack = packOf(tools);
  const loaded = loadConfig({ cwd, env, packs: [{ pack }] });
  const lines: Record<string, unknown>[] = [];
  const governance = await openGovernance({
    loaded,
    tools: pack.describe(),
    log: (level, event, fields) => lines.push({ level, event, ...fields }),
  });
  const host = createHost({ packs: [{ pack }], ...loaded.hostOptions, ...governance.hostOptions });
  const close = async () => {
    await host.close();
    await governance.close();
  };
  return { governance, host, lines, close };
};

const refusal = async (config: object): Promise<string> => {
  try {
    await (await opened(config)).close();
  } catch (cause) {
    if (cause instanceof ConfigError) return cause.message.replaceAll(cwd, '');
    throw cause;
  }
  return 'the configuration was accepted';
};

const deny = (when: object) => ({ rules: [{ name: 'r', when, action: 'deny' }] });

describe('an invalid configuration', () => {
  it.each([
    ['a rule without action', { rules: [{ name: 'r' }] }, '/rules/0/action: is required'],
    [
      'an unknown tool',
      deny({ tool: 'putt' }),
      '/rules/0/when/tool: unknown tool "putt". Did you mean "put"?',
    ],
    [
      'an unknown argument',
      deny({ tool: 'put', 'args.thin': { exists: true } }),
      'Did you mean "args.thing"?',
    ],
    [
      'an unknown template',
      { template: 'save' },
      '/template: must be one of safe, standard, open. Did you mean "safe"?',
    ],
    ['a limit without a number', { limits: { a: {} } }, '/limits/a: requires'],
    [
      'an approval without the workflow profile',
      { rules: [{ name: 'r', action: 'require_approval' }] },
      'Use the profile "workflow"',
    ],
    [
      'a mode with approvals without the workflow profile',
      { mode: 'composer' },
      '/mode: requires approval',
    ],
    [
      'a key for an unknown tool',
      { journal: { keys: { puts: 'put:{thing}' } } },
      '/journal/keys/puts: unknown tool "puts". Did you mean "put"?',
    ],
    [
      'a key without argument',
      { journal: { keys: { put: 'put' } } },
      '/journal/keys/put: must name an argument',
    ],
    ['a key with a secret', { journal: { keys: { put: 'put:{note}' } } }, 'note is sensitive'],
    ['an invalid webhook URL', { notify: { webhook: { url: 'ftp://a' } } }, '/notify/webhook/url'],
    [
      'a token in plain text',
      { notify: { webhook: { url: 'https://a.example', token: 'abc' } } },
      'is a secret in plain text',
    ],
    ['an empty command', { notify: { command: [] } }, '/notify/command'],
  ])('with %s is reported with file and pointer', async (_what, config, message) => {
    const reported = await refusal({ profile: 'api', ...config });
    expect(reported).toContain(message);
    expect(reported).toMatch(/^\/toolkeel\.config\.json: /);
  });
});

describe('governance', () => {
  it('creates no file before the journal is needed', async () => {
    const { host, close } = await opened({ profile: 'readonly' });
    expect(host.tools.map(({ name }) => name)).toEqual(['look']);
    await close();
    expect(readdirSync(cwd)).toEqual(['toolkeel.config.json']);
  });

  it('is ready without mutations, even if the data directory is unusable', async () => {
    writeFileSync(join(cwd, 'data'), 'a file in the way');
    const { governance, close } = await opened({ profile: 'readonly' });
    await expect(governance.ready()).resolves.toBeUndefined();
    await close();
  });

  it('is not ready with mutations if the data directory is unusable', async () => {
    writeFileSync(join(cwd, 'data'), 'a file in the way');
    const { governance, close } = await opened({ profile: 'api' });
    await expect(governance.ready()).rejects.toMatchObject({ name: 'JournalError' });
    await close();
  });

  it('logs which once tools have no key template', async () => {
    const bare = await opened({ profile: 'api' });
    await bare.governance.ready();
    expect(bare.lines).toMatchObject([{ event: 'once_tools_without_key', tools: ['put'] }]);
    await bare.close();
    const keyed = await opened({ profile: 'api', journal: { keys: { put: 'put:{thing}' } } });
    await keyed.governance.ready();
    expect(keyed.lines).toEqual([]);
    await keyed.close();
  });

  it('stores the journal and its key in the data directory', async () => {
    const { governance, close } = await opened({ profile: 'workflow' });
    await governance.ready();
    await close();
    expect(readdirSync(join(cwd, 'data'))).toEqual(
      expect.arrayContaining(['journal.db', 'journal.key']),
    );
  });
});
