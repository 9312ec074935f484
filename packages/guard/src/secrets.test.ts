import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secrets } from '@toolkeel/host';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { compileSchema } from './arguments.js';
import { childLink } from './child-link.js';
import { writePins } from './pin-store.js';
import { createRig, type Rig } from './rig.fixture.js';

const SECRET = `eyJ${'abcdefghij0123456789'.repeat(80)}`;
const PART = SECRET.slice(0, 12);
const KEY_LINES = ['MIIEvQIBADANBgkqhkiG9w0', 'BAQEFAASCBKcwggSjAgEAAoIB'];
const PEM = ['-----BEGIN PRIVATE KEY-----', ...KEY_LINES, '-----END PRIVATE KEY-----'].join('\n');

let rig: Rig | undefined;
afterEach(async () => {
  await rig?.close();
  rig = undefined;
});

it('a secret at the end of a long refusal reaches neither the journal nor a repeat', async () => {
  const message = `${'z'.repeat(100)} token=${SECRET}`;
  rig = createRig({
    env: { MY_TOKEN: SECRET },
    onCall: ({ id }, upstream) => upstream.send({ id, error: { code: -32_601, message } }),
  });
  const client = await rig.client();
  const _meta = { 'dev.toolkeel/idempotency-key': 'key-0123456789abcdef' };
  const first = await client.call('add', {}, { _meta });
  const second = await client.call('add', {}, { _meta });
  expect(second.result?.['structuredContent']).toMatchObject({
    error: { code: 'upstream_rejected', message: expect.stringContaining('token=[redacted]') },
  });
  expect(JSON.stringify([first, second])).not.toContain(PART);
});

it('a secret in a long description is not listed in part when descriptions are cut', async () => {
  const described = { name: 'add', inputSchema: { type: 'object' }, description: SECRET };
  rig = createRig({
    env: { MY_TOKEN: SECRET },
    config: { maxDescriptionChars: 100 },
    tools: [described],
  });
  const client = await rig.client();
  const listed = await client.ask('tools/list');
  expect(JSON.stringify(listed)).toContain('"add"');
  expect(JSON.stringify(listed)).not.toContain(PART);
});

it('a secret in a description is not pinned, and neither an earlier pin of it nor another secret is a change', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'pins-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const toolWith = (secret: string) => ({
    description: `Uses "${secret}".`,
    inputSchema: { type: 'object', properties: { a: { default: secret } } },
  });
  const pinnedWith = async (secret: string): Promise<string> => {
    await rig?.close();
    rig = createRig({
      env: { MY_TOKEN: secret },
      tools: [{ name: 'add', ...toolWith(secret) }],
      settings: { dataDir, journal: { url: 'memory:' } },
      config: { pin: 'block' },
    });
    const client = await rig.client();
    await client.session.toolsListed();
    expect(rig.logs().filter(({ event }) => event === 'guard_tools_changed')).toEqual([]);
    return readFileSync(join(dataDir, 'guard-pins', 'fake.json'), 'utf8');
  };
  // As versions before wrote it.
  writePins(dataDir, 'fake', { add: { pinned: toolWith(SECRET), pinnedAt: '2026-01-01' } });
  for (const secret of [SECRET, 'another-0123456789-secret']) {
    const pins = await pinnedWith(secret);
    expect(pins).toContain('Uses \\"[redacted]\\".');
    expect(pins).toContain('2026-01-01');
    for (const part of [PART, 'another']) expect(pins).not.toContain(part);
  }
});

it('a password in an address among the arguments of a server is redacted', async () => {
  const address = `postgresql://me:pass-0123456789@db.example/app`;
  rig = createRig({
    config: { args: [address] },
    onCall: ({ id }, upstream) =>
      upstream.send({ id, error: { code: -32_601, message: `no answer from ${address}` } }),
  });
  const client = await rig.client();
  const answer = JSON.stringify(await client.call('add'));
  expect(answer).toContain('no answer from postgresql://me:[redacted]@db.example');
  expect(answer).not.toContain('pass-0123456789');
});

it.each([
  [['--api-key', 'value-0123456789']],
  [['--github-token=value-0123456789']],
  [['--github-pat', 'value-0123456789']],
  [['-passphrase=value-0123456789']],
])('the secret in the arguments %j is redacted, other values are not', async (args) => {
  rig = createRig({
    config: { args: [...args, '--path', '/some/long/path', '--max-tokens', '1000000000'] },
    onCall: ({ id }, upstream) => {
      const message = `value-0123456789 is wrong for /some/long/path (1000000000)`;
      upstream.send({ id, error: { code: -32_601, message } });
    },
  });
  const client = await rig.client();
  const answer = JSON.stringify(await client.call('add'));
  expect(answer).toContain('[redacted] is wrong for /some/long/path (1000000000)');
});

it('a secret in a long list of allowed values is not shown in part', () => {
  const values = [...Array.from({ length: 10 }, (_, n) => `value-${n}`), SECRET];
  const check = compileSchema({ type: 'object', properties: { a: { enum: values } } }, () => {});
  const [issue] = check({ a: 'other' });
  expect(issue?.message).toContain('"value-9"');
  expect(issue?.message).not.toContain('eyJ');
});

it('a secret in a long line, or line by line, is not logged from stderr or stdout', async () => {
  const secrets = new Secrets();
  secrets.watch(SECRET);
  secrets.watch(PEM);
  const script = `
    const text = 'y'.repeat(900) + ' token=' + process.env.SECRET;
    console.error(text); console.log(text);
    console.error(process.env.PEM); console.log(process.env.PEM);
    process.stderr.write('x'.repeat(300) + ' ' + process.env.SECRET + 'w'.repeat(11e6) + '\\n');`;
  const texts: string[] = [];
  await new Promise<void>((resolve) => {
    childLink({
      name: 'leaky',
      command: process.execPath,
      args: ['-e', script],
      env: { SECRET, PEM },
      scrub: secrets.scrub,
      log: (_level, _event, fields) => void texts.push(secrets.scrub(String(fields?.['text']))),
    })({
      onFrame: () => {},
      onFailed: () => {},
      onBlocked: () => {},
      onRetired: () => {},
      onClosed: () => resolve(),
    });
  });
  const logged = texts.join('\n');
  expect(texts.filter((text) => text.includes('token=[redacted]'))).toHaveLength(2);
  expect(logged).toContain('a line that is too long');
  for (const part of [PART, ...KEY_LINES]) expect(logged).not.toContain(part);
});
