import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineTool, type Pack } from '@toolkeel/contract';
import { createJournal, ephemeralEncryption, memoryStore } from '@toolkeel/journal';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigError } from '../errors.js';
import { createHost } from '../host.js';
import { loadConfig, type LoadOptions } from './load.js';

const tool = (name: string, effect: 'read' | 'once') =>
  defineTool({ name, description: 'D.', effect, input: z.object({}), handler: () => ({}) });

const tools = [
  tool('list_tickets', 'read'),
  tool('get_ticket', 'read'),
  tool('get_comments', 'read'),
  tool('close_ticket', 'once'),
];

/** A pack that knows nothing of the filter: its schema is strict. */
const pack: Pack = {
  name: 'tickets',
  configSchema: z.strictObject({ url: z.string().optional() }).transform((given) => given),
  describe: () => tools,
  create: async () => ({
    tools,
    health: async () => ({ ok: true, detail: '' }),
    close: () => Promise.resolve(),
  }),
};

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'toolkeel-filter-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true, force: true });
});

const load = (filter: unknown, options: LoadOptions = {}) => {
  const packs = { tickets: { url: 'http://localhost', tools: filter } };
  writeFileSync(join(cwd, 'toolkeel.config.json'), JSON.stringify({ profile: 'api', packs }));
  return loadConfig({ cwd, env: {}, packs: [{ pack }], ...options });
};

const registered = (filter: unknown, options?: LoadOptions): readonly string[] => {
  const { packEntry, hostOptions } = load(filter, options);
  const journal = () => createJournal({ store: memoryStore(), encryption: ephemeralEncryption() });
  const host = createHost({ ...hostOptions, packs: [packEntry('tickets')], journal });
  return host.tools.map(({ name }) => name);
};

describe('the tools of a pack', () => {
  it.each<[string, object, readonly string[]]>([
    ['all', {}, ['list_tickets', 'get_ticket', 'get_comments', 'close_ticket', 'get_operation']],
    [
      'included',
      { include: ['get_ticket', 'close_ticket'] },
      ['get_ticket', 'close_ticket', 'get_operation'],
    ],
    ['included by pattern', { include: ['get_*'] }, ['get_ticket', 'get_comments']],
    ['not excluded', { exclude: ['*_ticket'] }, ['list_tickets', 'get_comments']],
    [
      'included and not excluded',
      { include: ['*'], exclude: ['close_ticket', 'get_c*'] },
      ['list_tickets', 'get_ticket'],
    ],
    ['none', { include: [] }, []],
  ])('are registered if %s', (_, filter, expected) => {
    expect(registered(filter)).toEqual(expected);
  });

  it('are also filtered with the settings of a sandbox', () => {
    const sandbox = { packSettings: { tickets: { url: 'http://127.0.0.1' } } };
    expect(registered({ include: ['list_tickets'] }, sandbox)).toEqual(['list_tickets']);
  });

  it('leave the settings of the pack as they are', () => {
    const { config, packEntry, excludedTools } = load({ exclude: ['get_*'] });
    expect(config.packs['tickets']).toEqual({ url: 'http://localhost' });
    expect(packEntry('tickets').config).toEqual({ url: 'http://localhost' });
    expect([...excludedTools]).toEqual(['get_ticket', 'get_comments']);
  });
});

describe('a mistake in the filter', () => {
  it.each<[string, unknown, string]>([
    [
      'an unknown name',
      { include: ['get_tiket'] },
      '/packs/tickets/tools/include/0: unknown tool "get_tiket". Did you mean "get_ticket"?',
    ],
    [
      'a pattern without a match',
      { exclude: ['get_ticket', 'x_*'] },
      '/packs/tickets/tools/exclude/1: matches no tool of the pack.',
    ],
    [
      'a misspelled list',
      { excludes: [] },
      '/packs/tickets/tools/excludes: is not a known setting. Did you mean "exclude"?',
    ],
    ['a name instead of a list', { include: 'get_ticket' }, '/packs/tickets/tools/include:'],
    ['a list instead of an object', ['get_ticket'], '/packs/tickets/tools:'],
    [
      'characters of a pattern language',
      { include: ['get_(ticket'] },
      '/packs/tickets/tools/include/0:',
    ],
  ])('stops the start: %s', (_, filter, message) => {
    expect(() => load(filter)).toThrow(ConfigError);
    expect(() => load(filter)).toThrow(message);
    expect(() => load(filter)).toThrow('toolkeel.config.json');
  });
});
