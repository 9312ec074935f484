import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { upstreamSchema } from './config.js';
import { decideEffect, type ListedTool } from './effects.js';
import { knownProfiles, profileSchema, Profiles, type Profile } from './profiles.js';
import { isInRange } from './versions.js';

const folder = fileURLToPath(new URL('../profiles/', import.meta.url));
const combined = fileURLToPath(new URL('known-profiles.json', import.meta.url));
const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
const parse = (name: string): unknown => JSON.parse(readFileSync(folder + name, 'utf8'));

describe('the profiles', () => {
  it.each(files)('%s is valid', (name) => {
    const result = profileSchema.safeParse(parse(name));
    expect(result.error?.issues ?? []).toEqual([]);
  });

  it('are all in the file that is published', () => {
    const all = files.toSorted().map((name) => profileSchema.parse(parse(name)));
    // After a change of a profile: UPDATE_PROFILES=1 npx vitest run packages/guard/src/profiles.test.ts
    if (process.env['UPDATE_PROFILES']) {
      writeFileSync(combined, `${JSON.stringify(all, null, 2)}\n`);
    }
    expect(JSON.parse(readFileSync(combined, 'utf8'))).toEqual(JSON.parse(JSON.stringify(all)));
  });

  it('do not overlap', () => {
    const keys = knownProfiles.map(({ server, versions }) => `${server} ${versions}`);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('decide only by arguments of the call', () => {
    for (const { server, tools } of knownProfiles) {
      for (const [name, { when = [], arguments: known }] of Object.entries(tools)) {
        const used = when.flatMap((one) => Object.keys(one.arguments));
        const unknown = used.filter((path) => !known.includes(path.replace(/(\[\*\]|\.).*/, '')));
        expect(unknown, `${server}: ${name}`).toEqual([]);
      }
    }
  });

  it('reconcile only with arguments of the call', () => {
    for (const { server, tools } of knownProfiles) {
      for (const [name, { reconcile, arguments: known }] of Object.entries(tools)) {
        const used = [...JSON.stringify(reconcile ?? {}).matchAll(/\{(\w+)\}/g)];
        const unknown = used
          .map(([, argument = '']) => argument)
          .filter((one) => !known.includes(one));
        expect(unknown, `${server}: ${name}`).toEqual([]);
      }
    }
  });
});

const profile: Profile = profileSchema.parse({
  server: 'demo',
  versions: '>=1.2 <2',
  package: 'npm:demo',
  examined: 'made for this test',
  tools: {
    write: {
      effect: 'once',
      when: [{ arguments: { method: 'update' }, effect: 'idempotent' }],
      key: 'write:{id}',
      reconcile: { tool: 'get', match: { id: '{id}' } },
      arguments: ['id', 'method'],
      evidence: 'made for this test',
    },
    get: { effect: 'read', arguments: [], evidence: 'made for this test' },
  },
});
const tool = (name: string, ...names: string[]): ListedTool => ({
  name,
  inputSchema: { type: 'object', properties: Object.fromEntries(names.map((one) => [one, {}])) },
});

function setUp(config: object = {}, version = '1.2.3') {
  const events: string[] = [];
  const profiles = new Profiles({
    upstream: 'demo',
    config: upstreamSchema.parse({ command: 'x', ...config }),
    log: (_level, event) => void events.push(event),
    profiles: [profile],
  });
  const isChanged = profiles.identify({ name: 'demo', version, hasTools: true });
  const decide = (listed: ListedTool) => {
    const { config: own, evidence } = profiles.forTool(listed, listed.name);
    return decideEffect(listed, own, evidence);
  };
  return { profiles, events, decide, isChanged };
}

describe('a server with a profile', () => {
  it('has its effects by tool and argument, with the evidence', () => {
    const { decide, events, isChanged } = setUp();
    const decision = decide(tool('write', 'id', 'method'));
    expect(decision).toMatchObject({ effect: 'once', evidence: 'made for this test' });
    expect(decision.of({ method: 'update' })).toBe('idempotent');
    expect(decision.of({ method: 'create' })).toBe('once');
    expect(decide(tool('get'))).toMatchObject({ effect: 'read', why: 'profile' });
    expect(decide(tool('other'))).toMatchObject({ effect: 'once', why: 'no readOnlyHint' });
    expect(events).toEqual(['guard_profile']);
    expect(isChanged).toBe(true);
  });

  it.each(['2.0.0', '1.1.9', 'nightly', ''])(
    'of version "%s" has only the safe rule',
    (version) => {
      const { decide, events } = setUp({}, version);
      expect(decide(tool('get'))).toMatchObject({ effect: 'once', why: 'no readOnlyHint' });
      expect(events).toEqual(['guard_profile_version_unknown']);
    },
  );

  it('has only the safe rule for a tool with a new argument', () => {
    const { decide, events } = setUp();
    const decision = decide(tool('write', 'id', 'method', 'force'));
    expect(decision.of({ method: 'update' })).toBe('once');
    expect(events).toContain('guard_profile_tool_changed');
  });

  it('is overridden by the operator', () => {
    const { decide } = setUp({ tools: { write: { effect: 'once' } } });
    const decision = decide(tool('write', 'id', 'method'));
    expect(decision).toMatchObject({ effect: 'once', why: 'configured' });
    expect(decision.of({ method: 'update' })).toBe('once');
  });

  it('keeps what the operator does not set', () => {
    const { profiles } = setUp({ tools: { '*': { timeoutSecs: 5 } } });
    const { config } = profiles.forTool(tool('p_write', 'id'), 'write');
    expect(config.tools['p_write']).toMatchObject({
      effect: 'once',
      key: 'write:{id}',
      timeoutSecs: 5,
      reconcile: { tool: 'p_get' },
    });
  });

  it.each([{ trust: 'none' }, { profile: false }])('is not used with %j', (config) => {
    expect(setUp(config).profiles.profile).toBeUndefined();
  });
});

it.each([
  ['1.2.3', '>=1.2 <2', true],
  ['v1.2.0', '>=1.2 <2', true],
  ['2.0.0-beta.1', '>=1.2 <2', false],
  ['1.64.0-alpha-1790635538000', '>=1.50 <2', true],
  ['1.10.0', '>1.9', true],
  ['0.6.2', '=0.6.2', true],
  ['0.6.2.1', '=0.6.2', false],
  ['anything', '*', true],
  ['1.x', '>=0', false],
])('version %s is in %s: %s', (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected);
});
