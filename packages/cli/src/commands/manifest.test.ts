import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareManifests, manifestSchema, manifestText } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { fakeRuntime, useTempDir } from '../runtime.fixture.js';
import { currentManifest, manifest, publishedManifest } from './manifest.js';

const dir = useTempDir();
const here = () => fakeRuntime({ cwd: dir() });

it('the published manifest is up to date', async () => {
  const current = await currentManifest();
  // After an intended change: UPDATE_MANIFEST=1 npx vitest run manifest && npm run format
  if (process.env['UPDATE_MANIFEST']) writeFileSync(publishedManifest, manifestText(current));
  const committed = manifestSchema.parse(JSON.parse(readFileSync(publishedManifest, 'utf8')));
  expect(compareManifests(committed, current)).toEqual([]);
  expect(publishedManifest).toBe(fileURLToPath(new URL('../manifest.json', import.meta.url)));
});

describe('toolkeel manifest', () => {
  it('prints all tools, and those of a profile', async () => {
    const runtime = here();
    expect(await manifest([], {}, runtime)).toBe(0);
    const { tools } = manifestSchema.parse(JSON.parse(runtime.output()));
    expect(tools.map(({ name }) => name)).toContain('search_items');
    const reading = here();
    await manifest([], { profile: 'readonly' }, reading);
    for (const tool of manifestSchema.parse(JSON.parse(reading.output())).tools) {
      expect(tool.profiles).toContain('readonly');
    }
    await expect(manifest([], { profile: 'all' }, here())).rejects.toThrow(/Unknown profile "all"/);
  });

  it('accepts the published manifest, and its own output', async () => {
    const printed = here();
    await manifest([], {}, printed);
    writeFileSync(join(dir(), 'tools.json'), printed.output());
    for (const check of [true, 'tools.json'] as const) {
      const runtime = here();
      expect(await manifest([], { check }, runtime)).toBe(0);
      expect(runtime.output()).toMatch(/^\d+ tools match .*json/);
    }
  });

  it('lists added, removed and changed tools', async () => {
    const { tools, ...rest } = await currentManifest();
    const [first, second, ...others] = tools;
    const changed = [{ ...second, category: 'other' }, { ...first, name: 'gone' }, ...others];
    writeFileSync(join(dir(), 'old.json'), JSON.stringify({ ...rest, tools: changed }));
    const runtime = here();
    expect(await manifest([], { check: 'old.json' }, runtime)).toBe(1);
    expect(runtime.errorOutput()).toContain(`${first?.name} is new`);
    expect(runtime.errorOutput()).toContain('gone is gone');
    expect(runtime.errorOutput()).toContain(`${second?.name}: category was "other"`);
  });

  it.each(['readonly', 'api'] as const)(
    'detects every difference in the profile %s',
    async (profile) => {
      const { tools, ...rest } = await currentManifest();
      const at = tools.findIndex((tool) => tool.name === 'x_get_me');
      const mine = tools[at];
      expect(mine?.profiles).toContain(profile);
      const altered = [
        [tools.toSpliced(at, 1), 'x_get_me is new'],
        [[...tools, { ...mine, name: 'x_get_you' }], 'x_get_you is gone'],
        [
          tools.with(at, { ...mine!, input_schema_hash: '0'.repeat(64) }),
          'x_get_me: input_schema_hash',
        ],
        [
          tools.with(at, { ...mine!, output_schema_hash: '0'.repeat(64) }),
          'x_get_me: output_schema_hash',
        ],
        [tools.with(at, { ...mine!, possible_error_codes: [] }), 'x_get_me: possible_error_codes'],
      ] as const;
      for (const [changed, complaint] of altered) {
        writeFileSync(join(dir(), 'old.json'), JSON.stringify({ ...rest, tools: changed }));
        const runtime = here();
        expect(await manifest([], { check: 'old.json', profile }, runtime)).toBe(1);
        expect(runtime.errorOutput()).toContain(complaint);
      }
    },
  );

  it('has no mutations in readonly, and the host tools where there are mutations', async () => {
    const { tools } = await currentManifest();
    const of = (profile: 'readonly' | 'api') =>
      tools.filter(({ profiles }) => profiles.includes(profile));
    expect(of('readonly').filter(({ mutation }) => mutation)).toEqual([]);
    expect(
      of('api')
        .filter(({ mutation }) => mutation)
        .map(({ name }) => name),
    ).toContain('x_post_tweet');
    const namesOf = (profile: 'readonly' | 'api') => of(profile).map(({ name }) => name);
    const added = ['get_operation', 'get_policy_status'];
    expect(namesOf('api')).toEqual(expect.arrayContaining([...added, 'x_get_me']));
    expect(namesOf('readonly')).toContain('x_get_me');
    expect(namesOf('readonly').filter((name) => added.includes(name))).toEqual([]);
  });

  it.each([
    ['missing', undefined, /cannot be read/],
    ['not JSON', '{', /is not JSON/],
    ['not a manifest', '{"manifest_version":2}', /is not a manifest at manifest_version/],
  ])('refuses a file that is %s', async (_what, text, message) => {
    if (text !== undefined) writeFileSync(join(dir(), 'm.json'), text);
    await expect(manifest([], { check: 'm.json' }, here())).rejects.toThrow(message);
  });
});
