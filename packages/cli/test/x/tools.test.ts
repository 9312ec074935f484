import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { envelopeSchema, manifestSchema, type Profile } from '@toolkeel/contract';
import { startXSandbox, type XSandbox } from '@toolkeel/sandbox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { publishedManifest } from '../../src/commands/manifest.js';
import { useTempDir } from '../../src/runtime.fixture.js';
import { overStdio, type Connected } from '../support/client.js';
import { cliPack } from '../../src/packs.js';
import { xCalls } from '../support/x-calls.js';

const dir = useTempDir();
let x: XSandbox;
let clients: Connected[] = [];

beforeAll(async () => {
  x = await startXSandbox({ tier: 'enterprise' });
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  x.setFaults([]);
});
afterAll(() => x.close());

/** Starts `toolkeel serve x` with the sandbox and a media directory. */
const serve = (cwd: string, profile: Profile, env: Record<string, string>): Promise<Connected> => {
  const media = join(cwd, 'media');
  mkdirSync(media, { recursive: true });
  writeFileSync(join(media, 'picture.png'), Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'));
  const config = { packs: { x: { mediaDirectories: [media], tier: 'enterprise' } } };
  writeFileSync(join(cwd, 'toolkeel.config.json'), JSON.stringify(config));
  const place = { cwd, env: { TOOLKEEL_X_BASE_URL: x.url, ...env } };
  return overStdio(['x', '--profile', profile], place);
};

/** Stops with the test. */
const served = async (env: Record<string, string> = {}): Promise<Connected> => {
  const client = await serve(dir(), 'api', env);
  clients.push(client);
  return client;
};

/** A logged-in server, shared per profile because it starts slowly. */
const shared = new Map<Profile, Promise<Connected>>();
const folders: string[] = [];
const asUser = (profile: Profile): Promise<Connected> => {
  const begin = (): Promise<Connected> => {
    const folder = mkdtempSync(join(tmpdir(), 'toolkeel-x-'));
    folders.push(folder);
    return serve(folder, profile, { TOOLKEEL_X_ACCESS_TOKEN: x.credentials.accessToken });
  };
  const client = shared.get(profile) ?? begin();
  shared.set(profile, client);
  return client;
};
afterAll(async () => {
  await Promise.all([...shared.values()].map(async (client) => (await client).close()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const published = manifestSchema.parse(JSON.parse(readFileSync(publishedManifest, 'utf8')));
const manifestOf = (profile: Profile) =>
  published.tools.filter(({ profiles }) => profiles.includes(profile));
const namesOf = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

const packTools = namesOf((await cliPack('x').load()).pack.describe());

describe('toolkeel serve x', () => {
  it('returns the expected data and commits for each of the 38 tools of api', async () => {
    const client = await asUser('api');
    const answers = new Map<string, Readonly<Record<string, unknown>>>();
    const input = { x, before: (tool: string) => answers.get(tool) ?? {} };
    for (const { tool, args, data, commits } of xCalls) {
      const done = x.commits().length;
      const envelope = await client.call(tool, { ...args(input) });
      expect({ tool, envelope }).toMatchObject({ envelope: { success: true, data: data(input) } });
      expect(envelopeSchema.safeParse(envelope).error).toBeUndefined();
      const kinds = x.commits({ after: done }).map(({ kind }) => kind);
      expect({ tool, kinds }).toEqual({ tool, kinds: commits?.split(' ') ?? [] });
      answers.set(tool, envelope.data);
    }
    expect(answers.size).toBe(38);
    expect(client.stderr()).not.toContain(x.credentials.accessToken);
  });

  it('returns x_not_configured for every tool that needs X, without a request', async () => {
    const client = await served();
    x.clearLog();
    const dependent = manifestOf('api').filter(({ requires_x_client: needs }) => needs);
    expect(dependent).toHaveLength(33);
    const input = { x, before: () => ({ media_id: '1', id: '1' }) };
    for (const { tool, args } of xCalls.filter((one) => namesOf(dependent).includes(one.tool))) {
      const { success, error } = await client.call(tool, { ...args(input) });
      expect({ tool, success, error }).toMatchObject({
        success: false,
        error: { code: 'x_not_configured', retryable: false },
      });
    }
    expect(x.log()).toEqual([]);
  });

  it('returns x_auth_expired if the token cannot be refreshed', async () => {
    const { accessToken } = x.issueTokens({ lifetimeMs: 0 });
    const fixed = await served({ TOOLKEEL_X_ACCESS_TOKEN: accessToken });
    expect(await fixed.call('x_get_me')).toMatchObject({
      error: { code: 'x_auth_expired', retryable: false },
    });
    const login = {
      version: 1,
      login_id: 'a',
      client_id: x.credentials.clientId,
      access_token: accessToken,
      refresh_token: 'used-up-long-ago',
      obtained_at: 0,
      expires_at: 0,
      scopes: [],
    };
    mkdirSync(join(dir(), 'data'), { recursive: true });
    writeFileSync(join(dir(), 'data', 'x-login.json'), JSON.stringify(login), { mode: 0o600 });
    const kept = await served();
    const before = x.commits().length;
    for (const [tool, args] of [
      ['x_get_me', {}],
      ['x_post_tweet', { text: 'never' }],
    ] as const) {
      expect(await kept.call(tool, args)).toMatchObject({ error: { code: 'x_auth_expired' } });
    }
    expect(x.commits({ after: before })).toEqual([]);
  });

  it('404 as retryable: a missing resource is not_found and not retryable', async () => {
    const client = await asUser('api');
    x.clearLog();
    const { deletedPostId } = x.landmarks;
    for (const [tool, args] of [
      ['get_tweet_by_id', { tweet_id: deletedPostId }],
      ['x_get_user_by_id', { user_id: '1' }],
      ['x_delete_tweet', { tweet_id: '1' }],
    ] as const) {
      const { error } = await client.call(tool, args);
      expect({ tool, error }).toMatchObject({ error: { code: 'not_found', retryable: false } });
    }
    expect(x.log()).toHaveLength(3);
  });

  it.each(['readonly', 'api', 'workflow'] as const)(
    "TuitBot's unregistered tools: exactly the manifest's tools in %s can be called",
    async (profile) => {
      const client = await asUser(profile);
      const tools = manifestOf(profile);
      const ofX = namesOf(tools).filter((name) => packTools.includes(name));
      const ofHost = profile === 'readonly' ? [] : ['get_operation', 'get_policy_status'];
      expect((await client.tools()).toSorted()).toEqual([...ofX, ...ofHost].toSorted());
      // A listed tool must be callable.
      for (const name of ofX) {
        const { success, error } = await client.call(name, { no_such_argument: true });
        expect({ name, success, error }).toMatchObject({ error: { code: 'validation_error' } });
      }
    },
  );

  it("TuitBot's unregistered tools: the pack's README lists exactly the existing tools", () => {
    const page = readFileSync(new URL('../../../x/README.md', import.meta.url), 'utf8');
    const [, table = ''] = /^## Tools$(.*?)^## /ms.exec(page) ?? [];
    const rows = table.split('\n').filter((line) => line.startsWith('| `'));
    const named = rows.flatMap((row) => row.split(' | ')[0]?.match(/(?<=`)\w+(?=`)/g) ?? []);
    expect(named.toSorted()).toEqual(packTools.toSorted());
  });

  it('has no mutations in readonly', async () => {
    const client = await asUser('readonly');
    const acting = xCalls.filter(({ commits }) => commits !== undefined);
    expect(acting).toHaveLength(14);
    const names = await client.tools();
    const [before, requests] = [x.commits().length, x.log().length];
    for (const { tool } of acting) {
      expect(names).not.toContain(tool);
      await expect(client.call(tool, { text: 'a', tweet_id: '1' })).rejects.toThrow(
        `Unknown tool "${tool}"`,
      );
    }
    expect([x.commits().length, x.log().length]).toEqual([before, requests]);
  });
});
