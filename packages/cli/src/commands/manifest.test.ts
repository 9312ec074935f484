import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareManifests, manifestSchema, manifestText } from '@toolkeel/contract';
import { describe, expect, it } from 'vitest';
import { fakeRuntime } from '../runtime.fixture.js';
import { useTempDir } from '../runtime.fixture.js';
import { currentManifest, manifest, publishedManifest } from './manifest.js';

const dir = useTempDir();
const here = () => fakeRuntime({ cwd: dir() });

it('is the one that we publish: no tool comes, goes or changes unnoticed', async () => {
  const current = await currentManifest();
  // After a change that is meant: UPDATE_MANIFEST=1 npx vitest run manifest && npm run format
  if (process.env['UPDATE_MANIFEST']) writeFileSync(publishedManifest, manifestText(current));
  const committed = manifestSchema.parse(JSON.parse(readFileSync(publishedManifest, 'utf8')));
  expect(compareManifests(committed, current)).toEqual([]);
  expect(publishedManifest).toBe(fileURLToPath(new URL('../manifest.json', import.meta.url)));
});

describe('toolkeel manifest', () => {
  it('prints all tools, and those of a profile', async () => {
    const runtime = here();
    expect(await manifest({}, runtime)).toBe(0);
    const { tools } = manifestSchema.parse(JSON.parse(runtime.said()));
    expect(tools.map(({ name }) => name)).toContain('search_items');
    const reading = here();
    await manifest({ profile: 'readonly' }, reading);
    for (const tool of manifestSchema.parse(JSON.parse(reading.said())).tools) {
      expect(tool.profiles).toContain('readonly');
    }
    await expect(manifest({ profile: 'all' }, here())).rejects.toThrow(/no profile "all"/);
  });

  it('is content with what it was published with, and with what it has just printed', async () => {
    const printed = here();
    await manifest({}, printed);
    writeFileSync(join(dir(), 'tools.json'), printed.said());
    for (const check of [true, 'tools.json'] as const) {
      const runtime = here();
      expect(await manifest({ check }, runtime)).toBe(0);
      expect(runtime.said()).toMatch(/^\d+ tools, as .*json says/);
    }
  });

  it('names every tool that came, went or changed', async () => {
    const { tools, ...rest } = await currentManifest();
    const [first, second, ...others] = tools;
    const changed = [{ ...second, category: 'other' }, { ...first, name: 'gone' }, ...others];
    writeFileSync(join(dir(), 'old.json'), JSON.stringify({ ...rest, tools: changed }));
    const runtime = here();
    expect(await manifest({ check: 'old.json' }, runtime)).toBe(1);
    expect(runtime.complained()).toContain(`${first?.name} is new`);
    expect(runtime.complained()).toContain('gone is gone');
    expect(runtime.complained()).toContain(`${second?.name}: category was "other"`);
  });

  it.each(['readonly', 'api'] as const)('of %s is checked both ways', async (profile) => {
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
      expect(await manifest({ check: 'old.json', profile }, runtime)).toBe(1);
      expect(runtime.complained()).toContain(complaint);
    }
  });

  it('has no tool that acts in readonly, and those of the host in both', async () => {
    const { tools } = await currentManifest();
    const of = (profile: 'readonly' | 'api') =>
      tools.filter(({ profiles }) => profiles.includes(profile));
    expect(of('readonly').filter(({ mutation }) => mutation)).toEqual([]);
    expect(
      of('api')
        .filter(({ mutation }) => mutation)
        .map(({ name }) => name),
    ).toContain('x_post_tweet');
    for (const profile of ['readonly', 'api'] as const) {
      const names = of(profile).map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining(['get_operation', 'get_policy_status', 'x_get_me']),
      );
    }
  });

  it.each([
    ['not there', undefined, /cannot be read/],
    ['no JSON', '{', /is not JSON/],
    ['no manifest', '{"manifest_version":2}', /is not a manifest at manifest_version/],
  ])('refuses a file that is %s', async (_what, text, message) => {
    if (text !== undefined) writeFileSync(join(dir(), 'm.json'), text);
    await expect(manifest({ check: 'm.json' }, here())).rejects.toThrow(message);
  });
});
